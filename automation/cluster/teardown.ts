import { setTimeout as pause } from "node:timers/promises";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-api.js";
import { abandon, needsApi } from "./abandon.js";
import { ClusterError } from "./cluster-error.js";
import type { DestroyOptions } from "./options.js";
import type { Run } from "./run.js";
import { readClusters, readState } from "./state.js";

/*
 * Destroying needs the cluster's API: through it the cluster gives back its load balancers and volumes.
 */

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

async function requireApi(whose: string, kubeconfig: string, signal?: AbortSignal): Promise<void> {
  const api = new KubernetesApi(readKubeAccess(kubeconfig));
  const end = Date.now() + patience;
  for (;;) {
    const complaint = await complaintOf(api);
    if (complaint === undefined) return;
    if (complaint.final || Date.now() > end)
      throw new ClusterError(
        "KUBERNETES_UNREACHABLE",
        `${whose} cannot be used, and without it the cluster cannot give back its load balancers and volumes (${complaint.text}). Nothing was changed.`,
        "Does the control plane run (`npx stackadm status`), and is your address in allowedCidrs? If it is gone for good: `npx stackadm destroy --abandon` takes everything away without it; volumes with data stay and are named.",
      );
    await pause(1_000, undefined, { signal });
  }
}

/** Before a destroy: the API of each of the clusters answers, or nothing needs it any more. */
export async function settleApi(run: Run, options: DestroyOptions): Promise<void> {
  const state = await readState(run.access);
  if (state && options.abandon === true) {
    await abandon(run, state);
    return;
  }
  if (!state?.deployment.resources?.some(needsApi)) return;
  const clusters = await readClusters(run.access);
  for (const { name, kubeconfig } of clusters) {
    const whose = clusters.length > 1 ? `The API of the cluster '${name}'` : "The cluster's API";
    await requireApi(whose, kubeconfig, options.signal);
  }
}
