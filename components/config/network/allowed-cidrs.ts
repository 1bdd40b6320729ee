import type { z } from "zod";
import { isIpv6 } from "../../../base/ip-addresses.js";
import { doc, list, ipRangeField, inputField } from "../../schema/fields.js";
import type { SecurityGroupArguments } from "./network.js";

export const allowedCidrsSchema = list(
  inputField(ipRangeField("203.0.113.0/24")),
  1,
  "the ranges that may reach the API and SSH, like [203.0.113.0/24]",
).meta(
  doc("in place", "Ranges that may reach the Kubernetes API, and SSH unless `sshCidrs` is set."),
);

export const sshCidrsSchema = list(
  inputField(ipRangeField("203.0.113.0/24")),
  1,
  "the ranges that may reach SSH, like [203.0.113.0/24]",
)
  .optional()
  .meta(
    doc(
      "in place",
      "Ranges that may reach SSH: on the bastion, or on the machines that `access` leads to. They must contain the address from which `up` runs. Second interfaces have their own ranges (`network.admin.allowedCidrs`).",
      "`allowedCidrs`",
    ),
  );

export const serviceCidrsSchema = list(
  inputField(ipRangeField("203.0.113.0/24")),
  1,
  "the ranges of the services' clients, like [203.0.113.0/24]",
)
  .optional()
  .meta(
    doc(
      "in place",
      "Ranges that may use the load balancers of the ingress controller and of the samples, internal ones too; machines and pods are always allowed. `up` checks from the place where it runs whether these load balancers answer. Your own Services set their ranges with `loadBalancerSourceRanges`; with `ovn`, where load balancers keep the client's address, no other range reaches a Service anyway.",
      "`allowedCidrs`",
    ),
  );

/**
 * Reports `allowedCidrs` or `sshCidrs` with IPv6 ranges only. Clients reach the API and SSH by
 * IPv4, so such ranges would allow no client.
 */
export function findMissingIpv4Conflicts({
  allowedCidrs: api,
  sshCidrs: ssh,
  network: { portSecurity, securityGroups: ofAll },
  controlPlane,
}: {
  readonly allowedCidrs: readonly string[];
  readonly sshCidrs?: readonly string[] | undefined;
  readonly network: SecurityGroupArguments & { readonly portSecurity: boolean };
  readonly controlPlane: SecurityGroupArguments;
}): z.core.$ZodRawIssue[] {
  // Without port security, or with security groups of the user, other rules may allow clients.
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
      code: "custom",
      path: [path],
      input: ranges,
      message: `has ranges of IPv6 only, and ${what} reached by IPv4; write one like 203.0.113.0/24, too`,
    }));
}
