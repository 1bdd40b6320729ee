/**
 * Checks the arguments that name existing floating IPs. A port has at most one floating IP, and a
 * floating IP is on at most one port.
 */
import { z } from "zod";
import { getEndpointFloatingIp, type EndpointSpec } from "../load-balancing/endpoint.js";
import type { IngressSpec } from "../load-balancing/ingress.js";

interface Written {
  readonly access: string;
  readonly endpoint: EndpointSpec;
  readonly externalNetwork?: string | undefined;
  readonly ssh: { readonly floatingIp?: string | undefined };
  readonly ingress?: IngressSpec | undefined;
  readonly sampleServices?: { readonly address?: string | undefined } | undefined;
}

/**
 * Returns the existing floating IP that the user wrote for the ingress load balancer. Only
 * `kind: workers` has this argument.
 */
const ofIngress = (ingress: IngressSpec | undefined): string | undefined =>
  ingress?.kind === "workers" ? ingress.floatingIp : undefined;

/**
 * Returns the existing floating IPs that the user wrote, by path, such as `ssh.floatingIp`. Leaves
 * out floating IPs for Services.
 */
export const getFloatingIpsByPath = ({
  endpoint,
  ssh,
  ingress,
}: Pick<Written, "endpoint" | "ssh" | "ingress">): Readonly<Record<string, string>> => {
  const all = {
    "endpoint.floatingIp": getEndpointFloatingIp(endpoint),
    "ssh.floatingIp": ssh.floatingIp,
    "ingress.floatingIp": ofIngress(ingress),
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([path, address]) =>
      address === undefined ? [] : [[path, address]],
    ),
  );
};

/**
 * Returns the number of floating IPs that serve only SSH. The number is 0 in three cases: the API's
 * floating IP is on the first control plane and also serves SSH, SSH uses the machines' own
 * addresses, or there is no external network.
 */
export const countSshFloatingIps = ({ access, endpoint, externalNetwork, ssh }: Written): 0 | 1 => {
  const shared = access === "control-plane" && endpoint.kind === "floating-ip";
  const direct = access === "direct" || access === "admin";
  const nowhere = externalNetwork === undefined && ssh.floatingIp === undefined;
  return nowhere || direct || shared ? 0 : 1;
};

const ways = ["ssh.floatingIp", "ingress.floatingIp"] as const;

/**
 * Returns whether the path belongs to a floating IP that users may remove and set again in an
 * existing cluster.
 */
export const isReplaceableFloatingIpPath = (path: string): boolean =>
  ways.some((one) => one === path);

/**
 * Returns the paths in `ways` that apply to the cluster, each with the existing floating IP that
 * the user wrote. Undefined: the program creates a floating IP, or the ingress has none
 * (`public: false`).
 */
export function listReplaceableFloatingIps(
  of: Written,
): [path: string, given: string | undefined][] {
  const given = { [ways[0]]: of.ssh.floatingIp, [ways[1]]: ofIngress(of.ingress) };
  const there = {
    [ways[0]]: countSshFloatingIps(of) === 1,
    [ways[1]]: of.ingress?.kind === "workers",
  };
  return ways.filter((way) => there[way]).map((way) => [way, given[way]]);
}

const closed = "has no effect with `public: false`; leave one of them out";

/**
 * Returns the paths of floating IPs that the cluster would not use, each with its error message.
 */
const unused = (of: Written): Readonly<Record<string, string>> => ({
  ...("public" in of.endpoint && !of.endpoint.public && { "endpoint.floatingIp": closed }),
  ...(of.ingress?.public === false && { "ingress.floatingIp": closed }),
  ...(countSshFloatingIps(of) === 0 && {
    "ssh.floatingIp":
      of.access === "control-plane"
        ? "is not used if SSH uses the API's floating IP; write `endpoint.floatingIp`"
        : `is not used with access ${of.access}; leave it out`,
  }),
});

/**
 * Returns the existing floating IPs that the user wrote for Services, each with its path. The cloud
 * controller attaches these floating IPs.
 */
const ofServices = ({ ingress, sampleServices }: Written): [path: string, address: string][] => {
  const all: Readonly<Record<string, string | undefined>> = {
    "ingress.address": ingress?.kind === "service" ? ingress.address : undefined,
    "sampleServices.address": sampleServices?.address,
  };
  return Object.entries(all).flatMap(([path, address]) =>
    address === undefined ? [] : [[path, address]],
  );
};

/** Reports existing floating IPs that the cluster would not use, or that two arguments contain. */
export function findFloatingIpConflicts(of: Written): z.core.$ZodRawIssue[] {
  const given = [...Object.entries(getFloatingIpsByPath(of)), ...ofServices(of)];
  const wrong = unused(of);
  return given.flatMap(([path, address], index) => {
    const before = given.slice(0, index).find(([, other]) => other === address);
    const twice = before && `is \`${before[0]}\` already, and leads to one port; write another`;
    const message = wrong[path] ?? twice;
    return message === undefined
      ? []
      : [{ code: "custom" as const, path: path.split("."), input: address, message }];
  });
}
