import type { LoadBalancerPartKind } from "../../openstack/inventory/load-balancer-parts.js";
import type { CloudObject, CloudObjectKind } from "../../openstack/inventory/inventory.js";
import type { PendingOperation, StateResource } from "./stack-state.js";
import { parseUrn, getShortType } from "./urn.js";

/* Decides how to undo each pending operation of an interrupted run. Performs no input or output. */

/**
 * Kind of cloud object for each type of OpenStack resource that can be found by name. Floating IPs
 * have no names and are found by description.
 */
export const inventoryKindOfType: Readonly<Partial<Record<string, CloudObjectKind>>> = {
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

/**
 * Type and parent of each part of a load balancer. `of` is the input that refers to the parent. The
 * undo must delete a part that an interrupted run created, because Octavia refuses a second part
 * for the same port, listener or address.
 */
const partOfType: Readonly<
  Record<string, { readonly part: LoadBalancerPartKind; readonly of: string }>
> = {
  "openstack:loadbalancer/listener:Listener": { part: "listener", of: "loadbalancerId" },
  "openstack:loadbalancer/pool:Pool": { part: "pool", of: "listenerId" },
  "openstack:loadbalancer/monitor:Monitor": { part: "health monitor", of: "poolId" },
  "openstack:loadbalancer/member:Member": { part: "member", of: "poolId" },
};

export type UndoStep =
  /** No undo is needed, because the next run can repeat the operation without harm. */
  | { readonly act: "forget"; readonly what: string }
  | {
      readonly act: "delete object";
      readonly what: string;
      readonly kind: CloudObjectKind;
      readonly resource: StateResource;
    }
  | {
      readonly act: "delete part";
      readonly what: string;
      readonly part: LoadBalancerPartKind;
      readonly of: string;
      readonly resource: StateResource;
    }
  | { readonly act: "detach router"; readonly what: string; readonly resource: StateResource }
  | { readonly act: "delete rule"; readonly what: string; readonly resource: StateResource };

/** Returns the type and name of a resource, for messages. */
export const describeUrn = (urn: string): string => {
  const { name, type } = parseUrn(urn);
  return `${getShortType(type)} '${name}'`;
};

/** Returns how to undo one pending operation. */
export function getUndoStep({ type, resource }: PendingOperation): UndoStep {
  const { type: token } = parseUrn(resource.urn);
  const what = describeUrn(resource.urn);
  if (type !== "creating") return { act: "forget", what };
  const kind = inventoryKindOfType[token];
  if (kind) return { act: "delete object", what, kind, resource };
  const part = partOfType[token];
  if (part) return { act: "delete part", what, ...part, resource };
  if (token === "openstack:networking/routerInterface:RouterInterface")
    return { act: "detach router", what, resource };
  if (token === "openstack:networking/secGroupRule:SecGroupRule")
    return { act: "delete rule", what, resource };
  // Scripts can run again, and existing Kubernetes objects are adopted. So the next run repeats the
  // create.
  return { act: "forget", what };
}

/**
 * Returns the value of an input if it is a string. Returns undefined if the value is unknown or
 * secret.
 */
export const getPlainTextInput = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/**
 * Returns whether the interrupted create may have created this object. Compares the names of
 * objects, and the descriptions of floating IPs.
 */
export function mayBeCreatedBy(object: CloudObject, resource: StateResource): boolean {
  const inputs = resource.inputs ?? {};
  if (object.kind === "floating IP") {
    const description = getPlainTextInput(inputs["description"]);
    return description !== undefined && description !== "" && object.description === description;
  }
  return object.name === getPlainTextInput(inputs["name"]);
}

/**
 * Order of the undo steps. Objects that were created last are deleted first, because they use
 * objects that were created earlier.
 */
const order: Readonly<Record<UndoStep["act"], number>> = {
  "delete rule": 1,
  "delete part": 1,
  "delete object": 2,
  "detach router": 1,
  forget: 3,
};

/** Returns the undo steps for all pending operations, in the order in which they must run. */
export const getUndoSteps = (pending: readonly PendingOperation[]): UndoStep[] =>
  pending.map(getUndoStep).sort((a, b) => order[a.act] - order[b.act]);
