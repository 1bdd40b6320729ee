import { z } from "zod";
import { machineOptions } from "./group-options.js";
import { doc, nonEmptyText, record, shortValue, wholeNumber } from "../../schema/fields.js";
import { bastionVolumes } from "./volumes.js";

const ways = ["control-plane", "bastion", "direct", "admin"] as const;

export const access = z
  .enum(ways, {
    error: ({ input }) =>
      `${shortValue(input)} is not a way to the machines; write one of ${ways.join(", ")}`,
  })
  .default("control-plane")
  .meta(
    doc(
      "in place",
      "How the program and users reach the machines by SSH. `control-plane`: a floating IP on the first control plane, through which all other machines are reached. `bastion`: a floating IP on a separate machine; no other machine accepts SSH from outside. `direct`: each machine's own address, for a program that runs in a network that reaches the machines. `admin`: each machine's own address in `network.admin`.",
    ),
  );

/** Options of the bastion: a machine that only forwards SSH to the other machines. */
export const bastion = record({
  flavor: nonEmptyText("a flavor").meta(
    doc(
      "replaces nodes",
      "With `access: bastion`: flavor of the bastion, by name or ID. The bastion runs nothing but SSH.",
      "**required** for `bastion`",
    ),
  ),
  zone: nonEmptyText("an availability zone")
    .optional()
    .meta(
      doc(
        "replaces nodes",
        "With `access: bastion`: availability zone of the bastion.",
        "the first of `zones`",
      ),
    ),
  generation: wholeNumber(0, "a generation")
    .default(0)
    .meta(
      doc(
        "replaces nodes",
        "Raise it to replace the bastion with a new one that uses the current image, flavor, zone, user data and login key. Until then these are frozen. During the replacement no machine can be reached by SSH; the cluster keeps running.",
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

/**
 * Reports `access: admin` without `network.admin`, `access: bastion` without `bastion`, a `bastion`
 * that another value of `access` does not use, and a worker pool named `bastion` next to a bastion.
 */
export function sshAccessConflicts({
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
