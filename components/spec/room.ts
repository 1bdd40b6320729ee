/** Ranges that have no room for what is asked (pure): kubeadm would refuse them when the machines are there, or never end. */
import type { z } from "zod";
import { prefixOf } from "../network/address-plan.js";
import { podNetworkTraits } from "../pod-network/kinds.js";
import type { PodNetworkSpec } from "./pod-network.js";

interface Written {
  readonly network: {
    readonly nodes: string;
    readonly pods: string;
    readonly services: string;
    readonly existing?: object | undefined;
  };
  readonly podNetwork: PodNetworkSpec;
  readonly kubernetes: {
    readonly controllerManager: { readonly extraArgs: Readonly<Record<string, unknown>> };
  };
  /** All that become nodes. */
  readonly nodes: number;
  /** All that have an address in the machines' network. */
  readonly machines: number;
}

/** Prefixes of the ranges of Services that kubeadm takes: its DNS has the tenth address, and there are at most 2^20. */
const ofServices = { longest: 28, shortest: 12 };

/** Addresses that no machine ever has: the network's, the router's, DHCP's and the broadcast. */
const reserved = 4;

/** How much longer a node's prefix may be than that of the pods' range (kubeadm). */
const furthest = 16;

/** The prefix of each node's share of the pods' range. */
const nodePrefix = (flags: Readonly<Record<string, unknown>>): number => {
  const written = flags["node-cidr-mask-size-ipv4"] ?? flags["node-cidr-mask-size"];
  return Number(Array.isArray(written) ? written.at(-1) : (written ?? 24));
};

const issue = (path: string, input: string, message: string): z.core.$ZodRawIssue => ({
  ...{ code: "custom", path: ["network", path], input, message: `${input} ${message}` },
});

function ofPods({ network: { pods }, podNetwork, kubernetes, nodes }: Written): string | undefined {
  const [own, share] = [prefixOf(pods), nodePrefix(kubernetes.controllerManager.extraArgs)];
  if (own > share)
    return `is less than the /${String(share)} that each node gets of it; write a larger range`;
  if (share - own > furthest)
    return `is more than kubeadm shares out by /${String(share)}; write at most a /${String(share - furthest)}`;
  const room = 2 ** (share - own);
  return nodes > room && podNetworkTraits(podNetwork).sharesOutRange !== true
    ? `has a /${String(share)} for ${String(room)} nodes, and ${String(nodes)} are asked for; write a larger range`
    : undefined;
}

function ofMachines({ network: { nodes, existing }, machines }: Written): string | undefined {
  const room = Math.max(0, 2 ** (32 - prefixOf(nodes)) - reserved);
  return existing === undefined && machines > room
    ? `has addresses for ${String(room)} machines, and ${String(machines)} are asked for; write a larger range`
    : undefined;
}

function ofServicesRange({ network: { services } }: Written): string | undefined {
  const { longest, shortest } = ofServices;
  const own = prefixOf(services);
  if (own > longest) return `is less than kubeadm takes; write at least a /${String(longest)}`;
  return own < shortest
    ? `is more than kubeadm takes; write at most a /${String(shortest)}`
    : undefined;
}

export function withoutRoom(of: Written): z.core.$ZodRawIssue[] {
  const found = { nodes: ofMachines(of), pods: ofPods(of), services: ofServicesRange(of) };
  return Object.entries(found).flatMap(([path, message]) =>
    message === undefined ? [] : [issue(path, of.network[path as keyof typeof found], message)],
  );
}
