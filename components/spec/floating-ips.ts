/**
 * Arguments that use existing floating IPs. A port has one floating IP, and a floating IP is on one
 * port.
 */
import { z } from "zod";
import { existingFloatingIp, type EndpointSpec } from "./endpoint.js";
import type { IngressSpec } from "./ingress.js";

interface Written {
  readonly access: string;
  readonly endpoint: EndpointSpec;
  readonly externalNetwork?: string | undefined;
  readonly ssh: { readonly floatingIp?: string | undefined };
  readonly ingress?: IngressSpec | undefined;
  readonly sampleServices?: { readonly address?: string | undefined } | undefined;
}

/** Returns the floating IP of the load balancer in front of the ingress controller's machines. */
const ofIngress = (ingress: IngressSpec | undefined): string | undefined =>
  ingress?.kind === "workers" ? ingress.floatingIp : undefined;

/** Returns the existing floating IPs that the arguments name, by their paths. */
export const existingFloatingIps = ({
  endpoint,
  ssh,
  ingress,
}: Pick<Written, "endpoint" | "ssh" | "ingress">): Readonly<Record<string, string>> => {
  const all = {
    "endpoint.floatingIp": existingFloatingIp(endpoint),
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
 * Returns how many floating IPs SSH needs for itself: 0 where it shares the API's on the same
 * machine.
 */
export const entryAddresses = ({ access, endpoint, externalNetwork, ssh }: Written): 0 | 1 => {
  const shared = access === "control-plane" && endpoint.kind === "floating-ip";
  const direct = access === "direct" || access === "admin";
  const nowhere = externalNetwork === undefined && ssh.floatingIp === undefined;
  return nowhere || direct || shared ? 0 : 1;
};

const ways = ["ssh.floatingIp", "ingress.floatingIp"] as const;

/**
 * Returns whether the path names a floating IP that may be removed and set again while the cluster
 * exists.
 */
export const isOfWay = (path: string): boolean => ways.some((one) => one === path);

/**
 * Returns the paths of these floating IPs that are in use, with the address that the user gave.
 * Without an address, the program creates one, or there is none.
 */
export function floatingIpsOfWays(of: Written): [path: string, given: string | undefined][] {
  const given = { [ways[0]]: of.ssh.floatingIp, [ways[1]]: ofIngress(of.ingress) };
  const there = { [ways[0]]: entryAddresses(of) === 1, [ways[1]]: of.ingress?.kind === "workers" };
  return ways.filter((way) => there[way]).map((way) => [way, given[way]]);
}

const closed = "leads nowhere with `public: false`; leave one of them out";

/** Returns why a floating IP would be unused, by its path. */
const unused = (of: Written): Readonly<Record<string, string>> => ({
  ...("public" in of.endpoint && !of.endpoint.public && { "endpoint.floatingIp": closed }),
  ...(of.ingress?.public === false && { "ingress.floatingIp": closed }),
  ...(entryAddresses(of) === 0 && {
    "ssh.floatingIp":
      of.access === "control-plane"
        ? "is not used where SSH goes by the API's floating IP; write `endpoint.floatingIp`"
        : `is not used with access ${of.access}; leave it out`,
  }),
});

/** Returns the addresses that the cloud controller uses for Services, with their paths. */
const ofServices = ({ ingress, sampleServices }: Written): [path: string, address: string][] => {
  const all: Readonly<Record<string, string | undefined>> = {
    "ingress.address": ingress?.kind === "service" ? ingress.address : undefined,
    "sampleServices.address": sampleServices?.address,
  };
  return Object.entries(all).flatMap(([path, address]) =>
    address === undefined ? [] : [[path, address]],
  );
};

/** Reports floating IPs that would lead nowhere, or to two places. */
export function wrongFloatingIps(of: Written): z.core.$ZodRawIssue[] {
  const given = [...Object.entries(existingFloatingIps(of)), ...ofServices(of)];
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
