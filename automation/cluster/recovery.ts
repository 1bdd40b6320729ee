import { z } from "zod";
import { deleteParts, type PartKind } from "../../cloud/balancer-parts.js";
import type { CloudClient } from "../../cloud/client.js";
import { listObjects, type CloudObject, type Kind } from "../../cloud/inventory.js";
import { ownershipOf } from "../../cloud/ownership.js";
import { deleteObject } from "../../cloud/orphans.js";
import type { KubernetesApi } from "../verify/kubernetes-api.js";
import {
  identitiesOf,
  ownedIds,
  readState,
  writeState,
  type PendingOperation,
  type StateAccess,
  type StateExport,
  type StateResource,
} from "./state.js";
import { withUnfinished } from "./unfinished.js";
import { parseUrn, shortType } from "./urn.js";

/*
 * An engine that was killed leaves "pending operations": creates of which nobody knows whether they happened.
 * The next `up` would make these things a second time. So each is looked up and taken away before it.
 */

/** OpenStack resources that are found again by their name, and where. */
const kindOfType: Readonly<Record<string, Kind>> = {
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
  | { readonly act: "delete rule"; readonly what: string; readonly resource: StateResource }
  | {
      readonly act: "delete Kubernetes object";
      readonly what: string;
      readonly resource: StateResource;
    };

/** What to do about one pending operation. Pure. */
export function recoveryStep({ type, resource }: PendingOperation): RecoveryStep {
  const { name, type: token } = parseUrn(resource.urn);
  const what = `${shortType(token)} '${name}'`;
  if (type !== "creating") return { act: "forget", what };
  const kind = kindOfType[token];
  if (kind) return { act: "delete object", what, kind, resource };
  const part = partOfType[token];
  if (part) return { act: "delete part", what, ...part, resource };
  if (token === "openstack:networking/routerInterface:RouterInterface")
    return { act: "detach router", what, resource };
  if (token === "openstack:networking/secGroupRule:SecGroupRule")
    return { act: "delete rule", what, resource };
  // Scripts converge, so a create that may have run is simply run again.
  return token.startsWith("kubernetes:")
    ? { act: "delete Kubernetes object", what, resource }
    : { act: "forget", what };
}

const text = (value: unknown): string | undefined =>
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

export interface RecoveryTools {
  readonly cloud: CloudClient;
  /** Asked only when a Kubernetes object has to be looked up; undefined when the cluster is not there yet. */
  readonly kubernetes: () => Promise<KubernetesApi | undefined>;
  readonly note: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** What the state holds: ids of objects, identities of clusters. */
interface Held {
  readonly owned: ReadonlySet<string>;
  readonly identities: ReadonlySet<string>;
}

/** Whether an object carries the mark of a cluster that is not the state's. */
function isForeign(object: CloudObject, { identities }: Held): boolean {
  const mark = ownershipOf(object)?.mark;
  return mark !== undefined && !identities.has(mark.identity);
}

async function deleteObjects(
  step: Extract<RecoveryStep, { act: "delete object" }>,
  held: Held,
  tools: RecoveryTools,
): Promise<void> {
  const objects = await listObjects(tools.cloud, step.kind);
  for (const object of objects) {
    if (held.owned.has(object.id) || !isTheOne(object, step.resource)) continue;
    if (isForeign(object, held)) continue;
    tools.note(`Deleting the ${step.kind} '${object.name}' that an interrupted run left.`);
    await deleteObject(tools.cloud, object, { signal: tools.signal });
  }
}

async function deletePart(
  { part: kind, of, resource }: Extract<RecoveryStep, { act: "delete part" }>,
  { owned }: Held,
  { cloud, note, signal }: RecoveryTools,
): Promise<void> {
  const [name, owner] = [text(resource.inputs?.["name"]), text(resource.inputs?.[of])];
  if (name === undefined || owner === undefined) return;
  const deleted = await deleteParts(cloud, { kind, name, of: owner }, owned, { signal });
  if (deleted.length > 0) note(`Deleted the ${kind} '${name}' that an interrupted run left.`);
}

async function detachRouter(
  resource: StateResource,
  { cloud, note }: RecoveryTools,
): Promise<void> {
  const router = text(resource.inputs?.["routerId"]);
  const subnet = text(resource.inputs?.["subnetId"]);
  if (router === undefined || subnet === undefined) return;
  const { ports } = z
    .object({ ports: z.array(z.unknown()) })
    .parse(
      await cloud.request(
        "network",
        "GET",
        `/ports?device_id=${router}&fixed_ips=subnet_id%3D${subnet}`,
      ),
    );
  if (ports.length === 0) return;
  note("Detaching a router interface that an interrupted run left.");
  await cloud.request("network", "PUT", `/routers/${router}/remove_router_interface`, {
    subnet_id: subnet,
  });
}

async function deleteRule(
  resource: StateResource,
  { owned }: Held,
  { cloud, note }: RecoveryTools,
): Promise<void> {
  const group = text(resource.inputs?.["securityGroupId"]);
  if (group === undefined) return;
  const { security_group_rules: rules } = z
    .object({
      security_group_rules: z.array(
        z.looseObject({
          id: z.string(),
          description: z.string().nullish(),
          ethertype: z.string(),
          direction: z.string(),
        }),
      ),
    })
    .parse(
      await cloud.request("network", "GET", `/security-group-rules?security_group_id=${group}`),
    );
  for (const rule of rules) {
    const same =
      rule.description === text(resource.inputs?.["description"]) &&
      rule.ethertype === text(resource.inputs?.["ethertype"]) &&
      rule.direction === text(resource.inputs?.["direction"]);
    if (!same || owned.has(rule.id)) continue;
    note("Deleting a security group rule that an interrupted run left.");
    await cloud.request("network", "DELETE", `/security-group-rules/${rule.id}`);
  }
}

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string().optional(), namespace: z.string().optional() }),
});

async function deleteKubernetesObject(
  resource: StateResource,
  { kubernetes, note }: RecoveryTools,
): Promise<void> {
  const manifest = manifestSchema.safeParse(resource.inputs);
  const name = manifest.data?.metadata.name;
  const api = await kubernetes();
  if (!manifest.success || name === undefined || !api) return;
  const { apiVersion, kind, metadata } = manifest.data;
  const path = await api.pathOf({ apiVersion, kind, namespace: metadata.namespace, name });
  if (path === undefined || (await api.get(path)) === undefined) return;
  note(`Deleting the ${kind} '${name}' that an interrupted run left.`);
  await api.send("DELETE", path);
}

async function perform(step: RecoveryStep, held: Held, tools: RecoveryTools): Promise<void> {
  switch (step.act) {
    case "forget":
      return;
    case "delete object":
      return deleteObjects(step, held, tools);
    case "delete part":
      return deletePart(step, held, tools);
    case "detach router":
      return detachRouter(step.resource, tools);
    case "delete rule":
      return deleteRule(step.resource, held, tools);
    case "delete Kubernetes object":
      return deleteKubernetesObject(step.resource, tools);
  }
}

/** The order of undoing: the last made goes first, so that nothing is in use. */
const order: Readonly<Record<RecoveryStep["act"], number>> = {
  "delete Kubernetes object": 0,
  "delete rule": 1,
  "delete part": 1,
  "delete object": 2,
  "detach router": 1,
  forget: 3,
};

export interface Recovered {
  /** What was undone, or need not be. */
  readonly cleared: readonly string[];
  /** The state without the record of it; undefined when there is no such stack. */
  readonly state: StateExport | undefined;
}

/**
 * Undoes what an interrupted operation may have made without the state knowing, and clears the record of it.
 * Nothing that the state holds is touched.
 */
export async function recover(
  access: StateAccess,
  connect: () => Promise<RecoveryTools>,
): Promise<Recovered> {
  const state = await readState(access);
  const pending = state?.deployment.pending_operations ?? [];
  if (!state || pending.length === 0) return { cleared: [], state };
  const steps = pending.map(recoveryStep).sort((a, b) => order[a.act] - order[b.act]);
  const held = { owned: ownedIds(state), identities: identitiesOf(state) };
  if (steps.some(({ act }) => act !== "forget")) {
    const tools = await connect();
    for (const step of steps) await perform(step, held, tools);
  }
  const updating = pending.filter(({ type }) => type === "updating");
  const { deployment, ...rest } = withUnfinished(
    state,
    new Set(updating.map(({ resource }) => resource.urn)),
  );
  const clean = { ...rest, deployment: { ...deployment, pending_operations: [] } };
  await writeState(access, clean);
  return { cleared: steps.map(({ what }) => what), state: clean };
}
