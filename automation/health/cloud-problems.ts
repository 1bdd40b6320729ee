import { findResourcesInCloud } from "../guards/cloud-location.js";
import { inventoryKindOfType } from "../pulumi/pending-operations.js";
import type { StateExport, StateResource } from "../pulumi/stack-state.js";
import { parseUrn } from "../pulumi/urn.js";
import { getMachines, type ClusterOutputs, type MachineOutput } from "../verify/cluster-outputs.js";
import { needsMajority } from "../../components/config/roles.js";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { CloudError } from "../../openstack/http/cloud-error.js";
import {
  listObjects,
  type CloudObject,
  type CloudObjectKind,
} from "../../openstack/inventory/inventory.js";
import {
  getWakeServerCommand,
  isInterventionNeeded,
} from "../../openstack/inventory/server-diagnostics.js";

/** Kinds of objects without which a cluster's API cannot be reached. */
const checkedKinds: readonly CloudObjectKind[] = ["floating IP", "load balancer", "security group"];

/** Command that creates a missing object of a kind again. Default: `stackadm up --refresh`. */
const creations: Readonly<Partial<Record<CloudObjectKind, string>>> = {
  "load balancer": "stackadm up",
};

/** Resources of the checked kinds that must exist in the cloud, with the kind of each. */
const checkedResources = (state: StateExport): [StateResource, CloudObjectKind][] =>
  findResourcesInCloud(state).flatMap((one) => {
    const kind = inventoryKindOfType[one.type];
    const isReplaced = one.delete === true || one.pendingReplacement === true;
    return kind !== undefined && checkedKinds.includes(kind) && !isReplaced ? [[one, kind]] : [];
  });

/** Returns whether a machine has no server, and does not get one from Nova again. */
const isGone = (server: CloudObject | undefined): boolean =>
  server === undefined || server.status === "DELETED" || server.status === "SOFT_DELETED";

/** Returns the problem of a machine's server, with the command that repairs it. */
function serverProblem(
  { name }: MachineOutput,
  server: CloudObject | undefined,
  majorityIsLost: boolean,
): string | undefined {
  if (server === undefined || isGone(server))
    return `the server of ${name} does not exist any more: ${
      majorityIsLost
        ? "etcd has no majority without it, see docs/operate/restore.md"
        : "`stackadm up --refresh` recreates the machine"
    }`;
  if (!isInterventionNeeded(server)) return undefined;
  const command = getWakeServerCommand(server);
  return command === undefined
    ? `the server of ${name} is ${server.status}: \`openstack server show ${name}\` says why`
    : `${name} does not run, its server is ${server.status}: \`${command}\` makes it run again`;
}

/** Returns the machines that run etcd: the etcd machines, or else the control planes. */
const getEtcdMembers = ({ nodes, etcd }: ClusterOutputs): readonly MachineOutput[] =>
  (etcd ?? []).length > 0 ? (etcd ?? []) : nodes.filter(({ role }) => needsMajority(role));

function findServerProblems(outputs: ClusterOutputs, objects: readonly CloudObject[]): string[] {
  const servers = new Map(objects.flatMap((one) => (one.kind === "server" ? [[one.id, one]] : [])));
  const members = getEtcdMembers(outputs);
  const left = members.filter(({ serverId }) => !isGone(servers.get(serverId)));
  const lost = 2 * left.length <= members.length;
  return getMachines(outputs).flatMap((machine) => {
    const isMember = members.includes(machine);
    return serverProblem(machine, servers.get(machine.serverId), lost && isMember) ?? [];
  });
}

/**
 * Returns a sentence for each server of the cluster that does not run, and for each floating IP,
 * load balancer and security group of the state that does not exist. Each sentence contains the
 * command that repairs the object. Pure.
 *
 * @param objects servers, floating IPs, load balancers and security groups of the project
 * @param unknown kinds that the cloud did not list. Their objects may exist
 */
export function findCloudProblems(
  state: StateExport,
  outputs: ClusterOutputs,
  objects: readonly CloudObject[],
  unknown: readonly CloudObjectKind[] = [],
): string[] {
  const found = checkedResources(state).flatMap(([{ urn, id = "" }, kind]) => {
    if (unknown.includes(kind)) return [];
    const object = objects.find((one) => one.kind === kind && one.id === id);
    const what = `the ${kind} ${parseUrn(urn).name} (${id})`;
    const command = creations[kind] ?? "stackadm up --refresh";
    if (object === undefined)
      return [`${what} does not exist any more: \`${command}\` creates it again`];
    return kind === "load balancer" && object.status === "ERROR"
      ? [`${what} is in ERROR: \`${command}\` deletes it and creates it again`]
      : [];
  });
  return [...findServerProblems(outputs, objects), ...found];
}

/** Objects of the cluster in the cloud, as far as {@link findCloudProblems} compares them. */
export interface ComparedObjects {
  readonly objects: readonly CloudObject[];
  readonly unknown: readonly CloudObjectKind[];
  /** Sentence for each kind that the cloud did not list. */
  readonly warnings: readonly string[];
}

/**
 * Lists the servers, and the objects of the kinds that the state contains. A service other than
 * Nova that does not answer causes only a warning.
 */
export async function listComparedObjects(
  cloud: CloudClient,
  state: StateExport,
): Promise<ComparedObjects> {
  const kinds = new Set(checkedResources(state).map(([, kind]) => kind));
  const optional = [...kinds].map(async (kind): Promise<ComparedObjects> => {
    try {
      return { objects: await listObjects(cloud, kind), unknown: [], warnings: [] };
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      const text = `the ${kind}s of the cluster were not checked: ${error.message}`;
      return { objects: [], unknown: [kind], warnings: [text] };
    }
  });
  const [servers, ...others] = await Promise.all([listObjects(cloud, "server"), ...optional]);
  return {
    objects: [...servers, ...others.flatMap(({ objects }) => objects)],
    unknown: others.flatMap(({ unknown }) => unknown),
    warnings: others.flatMap(({ warnings }) => warnings),
  };
}
