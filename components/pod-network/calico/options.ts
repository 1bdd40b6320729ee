import { z } from "zod";
import { doc, oneOf, record } from "../../arguments/values.js";
import { manifestOption } from "../manifest-option.js";

export const calicoOptions = record({
  kind: z.literal("calico"),
  encapsulation: oneOf(["vxlan", "vxlan-cross-subnet", "ipip", "none"])
    .default("vxlan")
    .meta(
      doc(
        "refused",
        "With `calico`: `vxlan` wraps packets, 50 bytes more each; `vxlan-cross-subnet` only those between subnets; `ipip` with 20 bytes; `none` routes them as they are, by BGP. The machines' ports allow what is not wrapped.",
      ),
    ),
  manifest: manifestOption("calico"),
});

export type CalicoOptions = z.output<typeof calicoOptions>;
