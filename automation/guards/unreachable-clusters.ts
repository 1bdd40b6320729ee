import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-client.js";
import type { StackOperation } from "../engine/operation-context.js";
import {
  readClustersInState,
  readConnectedProviderUrns,
  type ClusterInState,
} from "../engine/kubernetes-providers.js";
import type { StateExport } from "../pulumi/stack-state.js";
import { findApiProblem } from "../verify/find-api-problem.js";

/*
 * Excludes the Kubernetes objects of a cluster from a refresh if the cluster's API does not answer.
 * The engine could not read these objects. The refresh would fail before the engine recreates the
 * machines on which the API runs.
 */

/** Time limit in milliseconds for one answer of a cluster's API. */
const answerTimeout = 10_000;

/**
 * Returns the URNs of the Kubernetes providers of clusters whose API cannot be used. Reports the
 * reasons.
 */
async function silentProviders(run: StackOperation): Promise<string[]> {
  const clusters = await readClustersInState(run.access);
  const complaints = await Promise.all(
    clusters.map(async (one): Promise<ClusterInState[]> => {
      const complaint = await findApiProblem(
        new KubernetesApi(readKubeAccess(one.kubeconfig), answerTimeout),
      );
      if (complaint === undefined) return [];
      run.warn(
        `The Kubernetes API of cluster '${one.name}' cannot be used (${complaint.text}): its objects are not read this time.`,
      );
      return [one];
    }),
  );
  const silent = new Set(complaints.flat().map(({ provider }) => provider));
  // Includes providers of these clusters that the user's program has created.
  return silent.size > 0 ? readConnectedProviderUrns(run.access, silent) : [];
}

/** Returns the URNs of the objects that a refresh must exclude. */
export async function findUnreachableKubernetesObjects(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<string[]> {
  if (!state) return [];
  const providers = (await silentProviders(run)).map((urn) => `${urn}::`);
  return (state.deployment.resources ?? []).flatMap(({ urn, provider = "" }) =>
    providers.some((one) => provider.startsWith(one)) ? [urn] : [],
  );
}
