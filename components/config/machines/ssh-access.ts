import { z } from "zod";
import { doc, shortValue } from "../../schema/fields.js";

export const sshAccessModes = ["control-plane", "bastion", "direct", "admin"] as const;

export const sshAccessSchema = z
  .enum(sshAccessModes, {
    error: ({ input }) =>
      `${shortValue(input)} is not a way to the machines; write one of ${sshAccessModes.join(", ")}`,
  })
  .default("control-plane")
  .meta(
    doc(
      "in place",
      "How the program and users reach the machines by SSH. `control-plane`: a floating IP on the first control plane, through which all other machines are reached. `bastion`: a floating IP on a separate machine; no other machine accepts SSH from outside. `direct`: each machine's own address, for a program that runs in a network that reaches the machines. `admin`: each machine's own address in `network.admin`.",
    ),
  );

interface Written {
  readonly access: (typeof sshAccessModes)[number];
  readonly network: { readonly admin?: object | undefined };
}

/** Reports `access: admin` without `network.admin`. */
export const findSshAccessConflicts = ({
  access: mode,
  network,
}: Written): z.core.$ZodRawIssue[] =>
  mode === "admin" && !network.admin
    ? [
        {
          code: "custom",
          path: ["access"],
          input: undefined,
          message: "admin needs a network for it; write `network.admin`",
        },
      ]
    : [];
