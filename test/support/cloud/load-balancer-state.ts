/**
 * Fixture of a state that contains a cluster's load balancer with its parts, and other resources.
 */
import { networkType, urnOf } from "../engine/fake-engine.js";

export const identity = "0123456789ab";
export const cloudProvider = "urn:pulumi:dev::it::pulumi:providers:openstack::default";

export type Recorded = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly urn: string;
};

/** Returns a resource of the OpenStack provider as the state contains it. */
export const made = (
  type: string,
  id: string,
  inputs: object = {},
  more: object = {},
): Recorded => ({
  urn: urnOf(type, `dev-${id}`),
  type,
  custom: true,
  id,
  inputs,
  provider: `${cloudProvider}::default`,
  outputs: { name: id, ...inputs },
  ...more,
});
export const octavia = (kind: string): string =>
  `openstack:loadbalancer/${kind.charAt(0).toLowerCase()}${kind.slice(1)}:${kind}`;

/**
 * Returns the load balancer with its parts. `kept` contains additional inputs of the load balancer.
 * `lasting` contains additional fields of its entry in the state.
 */
export const balancerInState = (kept: object, lasting: object): Recorded[] => {
  const outputs = { name: "lb", vipAddress: "10.0.0.9" };
  const balancer = made(octavia("LoadBalancer"), "lb", kept, { outputs, ...lasting });
  const listener = made(octavia("Listener"), "listener", { loadbalancerId: "lb" });
  const pool = made(octavia("Pool"), "pool", { listenerId: "listener" });
  const inPool = { poolId: "pool" };
  const member = made(octavia("Member"), "member", inPool, { dependencies: [pool.urn] });
  return [balancer, listener, pool, made(octavia("Monitor"), "monitor", inPool), member];
};

/**
 * Returns other resources of the state: the provider, the cluster's identity, its network, and a
 * member of another load balancer.
 */
export const besideBalancer = (): Recorded[] => [
  { urn: cloudProvider, type: "pulumi:providers:openstack", custom: true, id: "default" },
  {
    urn: urnOf("command:local:Command", "dev-identity"),
    type: "command:local:Command",
    custom: true,
    id: "i",
    outputs: { stdout: identity },
  },
  made(networkType, "net"),
  made(octavia("Member"), "theirs", { poolId: "another" }),
];
