import { z } from "zod";
import { doc, oneOf, record } from "../../arguments/values.js";

export const flannelOptions = record({
  kind: z.literal("flannel"),
  backend: oneOf(["vxlan", "host-gw"])
    .default("vxlan")
    .meta(
      doc(
        "refused",
        "With `flannel`: `vxlan` wraps packets, 50 bytes more each; `host-gw` routes them as they are, which the machines' ports then allow.",
      ),
    ),
});

export type FlannelOptions = z.output<typeof flannelOptions>;
