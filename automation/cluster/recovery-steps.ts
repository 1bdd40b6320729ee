import type { PartKind } from "../../cloud/balancer-parts.js";
import type { CloudObject, Kind } from "../../cloud/inventory.js";
import type { PendingOperation, StateResource } from "./state.js";
import { parseUrn, shortType } from "./urn.js";

/*
 * What each operation that was interrupted asks for. Pure.
 */

/** OpenStack resources that are found again by their name, and where. */
export const kindOfType: Readonly<Partial<Record<string, Kind>>> = {
  "openstack:networking/network:Network": "network",
  "openstack:networking/subnet:Subnet": "subnet",
  "openstack:networking/router:Router": "router",
  "openstack:networking/port:Port": "port",
  "openstack:networking/secGroup:SecGroup": "security group",
  "openstack:networking/floatingIp:FloatingIp": "floating IP",
  "openstack:compute/instance:Instance": "server",
  "openstack:compute/keypair:Keypair": "key pair",
  "openstack:compute/serverGroup:ServerGroup": "server group",
  "openstack:blockstorage/volume:Volume": "volume",
  "openstack:loadbalancer/loadBalancer:LoadBalancer": "load balancer",
  "openstack:identity/applicationCredential:ApplicationCredential": "application credential",
};

/** Parts of load balancers: a second one of the same port, listener or address is refused. And the input that says whose they are. */
const partOfType: Readonly<Record<string, { readonly part: PartKind; readonly of: string }>> = {
  "openstack:loadbalancer/listener:Listener": { part: "listener", of: "loadbalancerId" },
  "openstack:loadbalancer/pool:Pool": { part: "pool", of: "listenerId" },
  "openstack:loadbalancer/monitor:Monitor": { part: "health monitor", of: "poolId" },
  "openstack:loadbalancer/member:Member": { part: "member", of: "poolId" },
};

export type RecoveryStep =
  /** Nothing to do in the world: the operation is repeated or converges by itself. */
  | { readonly act: "forget"; readonly what: string }
  | {
      readonly act: "delete object";
      readonly what: string;
      readonly kind: Kind;
      readonly resource: StateResource;
    }
  | {
      readonly act: "delete part";
      readonly what: string;
      readonly part: PartKind;
      readonly of: string;
      readonly resource: StateResource;
    }
  | { readonly act: "detach router"; readonly what: string; readonly resource: StateResource }
  | { readonly act: "delete rule"; readonly what: string; readonly resource: StateResource };

/** A resource, for people. */
export const whatOf = (urn: string): string => {
  const { name, type } = parseUrn(urn);
  return `${shortType(type)} '${name}'`;
};

/** What to do about one pending operation. Pure. */
export function recoveryStep({ type, resource }: PendingOperation): RecoveryStep {
  const { type: token } = parseUrn(resource.urn);
  const what = whatOf(resource.urn);
  if (type !== "creating") return { act: "forget", what };
  const kind = kindOfType[token];
  if (kind) return { act: "delete object", what, kind, resource };
  const part = partOfType[token];
  if (part) return { act: "delete part", what, ...part, resource };
  if (token === "openstack:networking/routerInterface:RouterInterface")
    return { act: "detach router", what, resource };
  if (token === "openstack:networking/secGroupRule:SecGroupRule")
    return { act: "delete rule", what, resource };
  // Scripts converge, and an object that is in the cluster by now is taken over: such a create is simply run again.
  return { act: "forget", what };
}

/** The value of an input that is known, and no secret. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Is this the object that the interrupted create made: same name, or for a floating IP same description? */
export function isTheOne(object: CloudObject, resource: StateResource): boolean {
  const inputs = resource.inputs ?? {};
  if (object.kind === "floating IP") {
    const description = text(inputs["description"]);
    return description !== undefined && description !== "" && object.description === description;
  }
  return object.name === text(inputs["name"]);
}

/** The order of undoing: the last made goes first, so that nothing is in use. */
const order: Readonly<Record<RecoveryStep["act"], number>> = {
  "delete rule": 1,
  "delete part": 1,
  "delete object": 2,
  "detach router": 1,
  forget: 3,
};

/** What to do about all of them, the last made first. */
export const recoverySteps = (pending: readonly PendingOperation[]): RecoveryStep[] =>
  pending.map(recoveryStep).sort((a, b) => order[a.act] - order[b.act]);
