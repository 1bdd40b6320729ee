import { z } from "zod";
import { doc, oneOf, strictObject } from "../../schema/fields.js";

export const flannelOptionsSchema = strictObject({
  kind: z.literal("flannel"),
  backend: oneOf(["vxlan", "host-gw"])
    .default("vxlan")
    .meta(
      doc(
        "refused",
        "With `flannel`: `vxlan` encapsulates packets and adds 50 bytes to each; `host-gw` routes packets unchanged, and the machines' ports allow them.",
      ),
    ),
});

export type FlannelOptions = z.output<typeof flannelOptionsSchema>;
