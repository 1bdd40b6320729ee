import { z } from "zod";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-api.js";
import { needsApi } from "./abandon.js";
import type { ClaimedVolume } from "./options.js";
import type { Run } from "./run.js";
import { readClusters, type StateExport } from "./state.js";

/*
 * What becomes of what a cluster's controllers made: only the cluster itself knows what of it is to stay.
 */

/** How long a cluster's API may be silent, in milliseconds: without it, the plan knows less. */
const patience = 5_000;

const driver = "cinder.csi.openstack.org";

const volumesSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      spec: z.looseObject({
        csi: z.looseObject({ driver: z.string(), volumeHandle: z.string() }).optional(),
        claimRef: z.looseObject({ namespace: z.string(), name: z.string() }).optional(),
        persistentVolumeReclaimPolicy: z.string().optional(),
      }),
    }),
  ),
});

/** What a cluster knows of a volume. */
type Claimed = Pick<ClaimedVolume, "claim" | "fate">;

/** What a cluster knows. */
interface Known {
  /** Its volumes, by their IDs in Cinder. */
  readonly claims: ReadonlyMap<string, Claimed>;
}

/** What all clusters of a stack know. */
export interface Fates extends Known {
  /** What becomes of what no cluster knows. */
  readonly otherwise: "stays" | "unknown";
  /** Why a cluster could not be asked. */
  readonly problem?: string;
}

/** The volumes of Cinder that are PersistentVolumes. Only `Delete` has them deleted (components/kubeadm/scripts/teardown.sh). */
function claimsIn(answer: unknown): Known["claims"] {
  const { items } = volumesSchema.parse(answer);
  return new Map(
    items.flatMap(({ spec: { csi, claimRef, persistentVolumeReclaimPolicy: policy } }) => {
      if (csi?.driver !== driver) return [];
      const claim = claimRef ? `${claimRef.namespace}/${claimRef.name}` : "";
      const claimed: Claimed = { claim, fate: policy === "Delete" ? "goes" : "stays" };
      return [[csi.volumeHandle, claimed] as const];
    }),
  );
}

async function askCluster(kubeconfig: string): Promise<Known> {
  const api = new KubernetesApi(readKubeAccess(kubeconfig), patience);
  return { claims: claimsIn(await api.get("/api/v1/persistentvolumes")) };
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** What each of the clusters knows, or why it could not be asked. */
async function askAll(run: Run): Promise<(Known | string)[]> {
  const clusters = await readClusters(run.access);
  const whose = (name: string): string => (clusters.length > 1 ? `${name}: ` : "");
  return Promise.all(
    clusters.map(({ name, kubeconfig }) =>
      askCluster(kubeconfig).catch((error: unknown) => whose(name) + reasonOf(error)),
    ),
  );
}

/** Asks every cluster of the stack, as far as a destroy would: nobody else gives back what it has. */
export async function fatesIn(run: Run, state: StateExport, abandon: boolean): Promise<Fates> {
  if (abandon || state.deployment.resources?.some(needsApi) !== true)
    return { claims: new Map(), otherwise: "stays" };
  const answers = await askAll(run).catch((error: unknown) => [reasonOf(error)]);
  const problems = answers.flatMap((answer) => (typeof answer === "string" ? [answer] : []));
  const known = answers.flatMap((answer) => (typeof answer === "string" ? [] : [answer]));
  return {
    claims: new Map(known.flatMap(({ claims }) => [...claims])),
    otherwise: problems.length === 0 ? "stays" : "unknown",
    ...(problems.length > 0 && { problem: problems.join("; ") }),
  };
}
