import type { z } from "zod";
import { isIpv6 } from "../../base/addresses.js";
import { doc, list, range } from "../arguments/values.js";
import type { Grouped } from "./network.js";

export const allowedCidrs = list(
  range("203.0.113.0/24"),
  1,
  "the ranges that may reach the API and SSH, like [203.0.113.0/24]",
).meta(
  doc(
    "in place",
    "Ranges from which the Kubernetes API may be reached, and SSH unless `sshCidrs` names others.",
  ),
);

export const sshCidrs = list(
  range("203.0.113.0/24"),
  1,
  "the ranges that may reach SSH, like [203.0.113.0/24]",
)
  .optional()
  .meta(
    doc(
      "in place",
      "Ranges from which SSH may be reached: at the bastion, or at the machines that `access` leads to. `up` works from there. Second interfaces have ranges of their own (`network.admin.allowedCidrs`).",
      "`allowedCidrs`",
    ),
  );

export const serviceCidrs = list(
  range("203.0.113.0/24"),
  1,
  "the ranges of the services' clients, like [203.0.113.0/24]",
)
  .optional()
  .meta(
    doc(
      "in place",
      "Ranges from which the load balancers of the ingress controller and of the samples may be used, internal ones too; the machines and the pods always may. `up` asks from where it runs whether they answer. A Service of your own says it itself, by `loadBalancerSourceRanges`; where load balancers keep their clients' addresses (`ovn`), no other range reaches it anyway.",
      "`allowedCidrs`",
    ),
  );

/** Ranges from which nobody would come: the API and SSH are reached by IPv4. */
export function unreachable({
  allowedCidrs: api,
  sshCidrs: ssh,
  network: { portSecurity, securityGroups: ofAll },
  controlPlane,
}: {
  readonly allowedCidrs: readonly string[];
  readonly sshCidrs?: readonly string[] | undefined;
  readonly network: Grouped & { readonly portSecurity: boolean };
  readonly controlPlane: Grouped;
}): z.core.$ZodRawIssue[] {
  // Whoever brings groups along may let them in there.
  const opened = !portSecurity || [...ofAll, ...controlPlane.securityGroups].length > 0;
  if (opened) return [];
  const written = [
    ["allowedCidrs", api, ssh === undefined ? "the API and SSH are" : "the API is"],
    ["sshCidrs", ssh ?? api, "SSH is"],
  ] as const;
  return written
    .slice(0, ssh === undefined ? 1 : 2)
    .filter(([, ranges]) => ranges.every(isIpv6))
    .map(([path, ranges, what]) => ({
      ...{ code: "custom", path: [path], input: ranges },
      message: `has ranges of IPv6 only, and ${what} reached by IPv4; write one like 203.0.113.0/24, too`,
    }));
}

/** Name servers of a family that the machines' subnet does not have. */
