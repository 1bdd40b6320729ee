import { setTimeout as pause } from "node:timers/promises";
import { connectCloud, type CloudClient } from "../../cloud/client.js";
import { listObjects, type CloudObject } from "../../cloud/inventory.js";
import { deleteOrphans, findOrphans } from "../../cloud/orphans.js";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-api.js";
import { ClusterError } from "./cluster-error.js";
import {
  identitiesOf,
  ownedIds,
  readKubeconfig,
  readState,
  writeState,
  type PendingOperation,
  type StateAccess,
  type StateExport,
  type StateResource,
} from "./state.js";

/*
 * Destroying needs the cluster's API: through it the cluster gives back its load balancers and volumes. When the API is gone
 * for good, what is in the cluster goes with the machines: the state forgets it, and the engine takes away the rest.
 */

/** Does deleting this resource need the cluster's API: an object in it, or a script that says farewell to it? */
export const needsApi = ({ type, inputs }: StateResource): boolean =>
  type.startsWith("kubernetes:") ||
  (type === "command:remote:Command" && inputs?.["delete"] !== undefined);

/** The resource without references to what is gone: the engine refuses a state in which they lead nowhere. */
function detached(resource: StateResource, gone: ReadonlySet<string>): StateResource {
  const rest = (urns: readonly string[]): string[] => urns.filter((urn) => !gone.has(urn));
  const { dependencies, propertyDependencies, deletedWith, replaceWith, ...others } = resource;
  const byProperty = Object.entries(propertyDependencies ?? {});
  return {
    ...others,
    ...(dependencies && { dependencies: rest(dependencies) }),
    ...(replaceWith && { replaceWith: rest(replaceWith) }),
    ...(deletedWith !== undefined && !gone.has(deletedWith) && { deletedWith }),
    ...(propertyDependencies && {
      propertyDependencies: Object.fromEntries(
        byProperty.map(([property, urns]) => [property, rest(urns ?? [])]),
      ),
    }),
  };
}

/** The state without everything that needs the cluster's API, and how many resources that are. */
export function withoutApiObjects(state: StateExport): {
  readonly state: StateExport;
  readonly forgotten: number;
} {
  const { resources, pending_operations: pending } = state.deployment;
  const all = resources ?? [];
  const gone = new Set(all.filter(needsApi).map(({ urn }) => urn));
  const stays = ({ resource }: PendingOperation): boolean => !needsApi(resource);
  return {
    forgotten: gone.size,
    state: {
      ...state,
      deployment: {
        ...state.deployment,
        resources: all.filter(({ urn }) => !gone.has(urn)).map((one) => detached(one, gone)),
        pending_operations: (pending ?? []).filter(stays),
      },
    },
  };
}

/** How long the API of a cluster that is to be destroyed is waited for, in milliseconds. */
const patience = 30_000;

interface Complaint {
  readonly text: string;
  /** Waiting does not help: the credentials are refused, they may have expired. */
  readonly final: boolean;
}

/** Why the API cannot be used; undefined when it can. */
async function complaintOf(api: KubernetesApi): Promise<Complaint | undefined> {
  try {
    const { status, body } = await api.send("GET", "/readyz");
    if (status === 200) return undefined;
    const text = `it answers ${status}: ${body.trim().slice(0, 100)}`;
    return { text, final: status === 401 || status === 403 };
  } catch (error) {
    const text = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    return { text, final: false };
  }
}

async function requireApi(kubeconfig: string, signal?: AbortSignal): Promise<void> {
  const api = new KubernetesApi(readKubeAccess(kubeconfig));
  const end = Date.now() + patience;
  for (;;) {
    const complaint = await complaintOf(api);
    if (complaint === undefined) return;
    if (complaint.final || Date.now() > end)
      throw new ClusterError(
        "KUBERNETES_UNREACHABLE",
        `The cluster's API cannot be used, and without it the cluster cannot give back its load balancers and volumes (${complaint.text}). Nothing was changed.`,
        "Does the control plane run (`npx stackadm status`), and is your address in allowedCidrs? If it is gone for good: `npx stackadm destroy --abandon` takes everything away without it; volumes with data stay and are named.",
      );
    await pause(1_000, undefined, { signal });
  }
}

/**
 * What the cluster's cloud controller made: the network cannot go before it. Besides the identity, a load balancer of a
 * Service in a network that the state holds is proof enough: a cluster of an earlier release has no identity in its names.
 */
async function inTheWay(cloud: CloudClient, state: StateExport): Promise<readonly CloudObject[]> {
  const owned = ownedIds(state);
  const marked = await findOrphans(cloud, identitiesOf(state));
  const ofServices = marked.filter(({ claim }) => /^(load balancer|floating IP) of/.test(claim));
  const inside = (await listObjects(cloud, "load balancer")).filter(
    ({ id, name, network }) =>
      name.startsWith("kube_service_") &&
      owned.has(network) &&
      !ofServices.some((one) => one.id === id),
  );
  return [...ofServices, ...inside];
}

export interface ApiSettlement {
  readonly access: StateAccess;
  readonly env: NodeJS.ProcessEnv;
  readonly abandon?: boolean;
  readonly onNote?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Before a destroy: the cluster's API answers, or nothing needs it any more. */
export async function settleApi(settlement: ApiSettlement): Promise<void> {
  const { access, env, signal, onNote } = settlement;
  const state = await readState(access);
  if (!(state?.deployment.resources ?? []).some(needsApi) || !state) return;
  if (settlement.abandon !== true) {
    const kubeconfig = await readKubeconfig(access);
    if (kubeconfig !== undefined) await requireApi(kubeconfig, signal);
    return;
  }
  const cloud = await connectCloud({ env });
  await deleteOrphans(cloud, await inTheWay(cloud, state), {
    signal,
    onDelete: ({ kind, name }) => onNote?.(`Deleting the ${kind} '${name}'.`),
  });
  const { state: rest, forgotten } = withoutApiObjects(state);
  await writeState(access, rest);
  onNote?.(`${forgotten} resources that need the cluster's API are forgotten: they go with it.`);
}
