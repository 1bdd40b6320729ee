import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-api.js";
import type { Run } from "./run.js";
import { readClusters, readProviders, type HeldCluster } from "./held-clusters.js";
import type { StateExport } from "./state.js";
import { complaintOf } from "./usable-api.js";

/*
 * Where a cluster's API does not answer, the engine cannot read its objects, and would fail before it makes the machines anew on which
 * that API runs. So it passes them over when it reads what is really there.
 */

/** How long the API of a cluster may be silent to one question, in milliseconds. */
const patience = 10_000;

/** URNs of the providers that lead to clusters which cannot be asked now. Whoever listens hears why. */
async function silentProviders(run: Run): Promise<string[]> {
  const clusters = await readClusters(run.access);
  const complaints = await Promise.all(
    clusters.map(async (one): Promise<HeldCluster[]> => {
      const complaint = await complaintOf(
        new KubernetesApi(readKubeAccess(one.kubeconfig), patience),
      );
      if (complaint === undefined) return [];
      run.note(
        `! The Kubernetes API of cluster '${one.name}' cannot be used (${complaint.text}): what is in it is not read this time.`,
      );
      return [one];
    }),
  );
  const silent = new Set(complaints.flat().map(({ provider }) => provider));
  // A program's own providers lead there, too.
  return silent.size > 0 ? readProviders(run.access, silent) : [];
}

/** URNs of what the engine passes over when it reads what is really there. */
export async function silentObjects(run: Run, state: StateExport | undefined): Promise<string[]> {
  if (!state) return [];
  const providers = (await silentProviders(run)).map((urn) => `${urn}::`);
  return (state.deployment.resources ?? []).flatMap(({ urn, provider = "" }) =>
    providers.some((one) => provider.startsWith(one)) ? [urn] : [],
  );
}
