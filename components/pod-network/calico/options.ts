import { z } from "zod";
import { doc, oneOf, strictObject } from "../../schema/fields.js";
import { manifestOptionSchema } from "../manifest-option.js";

export const calicoOptionsSchema = strictObject({
  kind: z.literal("calico"),
  encapsulation: oneOf(["vxlan", "vxlan-cross-subnet", "ipip", "none"])
    .default("vxlan")
    .meta(
      doc(
        "refused",
        "With `calico`: `vxlan` encapsulates packets and adds 50 bytes to each; `vxlan-cross-subnet` does so only between subnets; `ipip` adds 20 bytes; `none` routes packets unchanged, by BGP. The machines' ports allow packets that are not encapsulated.",
      ),
    ),
  manifest: manifestOptionSchema("calico"),
});

export type CalicoOptions = z.output<typeof calicoOptionsSchema>;
