import { z } from "zod";
import { machineOptions } from "./group-options.js";
import { doc, present, record, shown, whole } from "../arguments/values.js";
import { bastionVolumes } from "./volumes.js";

const ways = ["control-plane", "bastion", "direct", "admin"] as const;

export const access = z
  .enum(ways, {
    error: ({ input }) =>
      `${shown(input)} is not a way to the machines; write one of ${ways.join(", ")}`,
  })
  .default("control-plane")
  .meta(
    doc(
      "in place",
      "How the program and people reach the machines by SSH: `control-plane` is a floating IP on the first control plane, and all others through it; `bastion` is a floating IP on a machine of its own, and no other lets SSH in from outside; `direct` is each machine's own address, for a program that runs where the machines are; `admin` is the same in `network.admin`.",
    ),
  );

/** The machine that is nothing but the way to the others. */
export const bastion = record({
  flavor: present("a flavor").meta(
    doc(
      "replaces nodes",
      "With `access: bastion`: flavor of the bastion, by name or ID. It runs nothing but SSH.",
      "**required** for `bastion`",
    ),
  ),
  zone: present("an availability zone")
    .optional()
    .meta(
      doc(
        "replaces nodes",
        "With `access: bastion`: its availability zone.",
        "the first of `zones`",
      ),
    ),
  generation: whole(0, "a generation")
    .default(0)
    .meta(
      doc(
        "replaces nodes",
        "Raise it to replace the bastion by a new one with the present image, flavor, zone, user data and login key. Until then those are frozen. Nobody reaches a machine by SSH meanwhile; the cluster goes on.",
      ),
    ),
  ...machineOptions,
  ...bastionVolumes,
}).optional();

interface Written {
  readonly access: (typeof ways)[number];
  readonly bastion?: object | undefined;
  readonly workers: Readonly<Record<string, unknown>>;
  readonly network: { readonly admin?: object | undefined };
}

/** A way that is named but not described, or the other way round. */
export function wayIn({
  access: way,
  bastion: written,
  workers,
  network,
}: Written): z.core.$ZodRawIssue[] {
  const wrong = (path: string[], message: string): z.core.$ZodRawIssue[] => [
    { code: "custom", path, input: undefined, message },
  ];
  if (way === "admin" && !network.admin)
    return wrong(["access"], "admin needs a network for it; write `network.admin`");
  if (way !== "bastion")
    return written
      ? wrong(
          ["bastion"],
          `is not used with access ${way}; write \`access: bastion\`, or leave it out`,
        )
      : [];
  return [
    ...(written
      ? []
      : wrong(["bastion"], "is missing; write its flavor, like `{flavor: m1.tiny}`")),
    ...("bastion" in workers
      ? wrong(
          ["workers", "bastion"],
          "is the name of the bastion's machine; give the pool another name",
        )
      : []),
  ];
}
