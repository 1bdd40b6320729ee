import {
  buildSamplesNamespace,
  buildWebDeployment,
} from "../../../../components/addons/manifests/samples.js";
import { createImageTable } from "../../../../base/versions/container-images.js";
import { defaultKubernetesVersion } from "../../../../base/versions/pinned-versions.js";
import { applied, kubectlOn } from "./kubectl.js";

/** Returns objects as a manifest for kubectl. */
export const manifestOf = (objects: readonly object[]): string =>
  objects.map((one) => JSON.stringify(one)).join("\n---\n");

/**
 * Runs the web pods of the samples, one on each of two machines. The cluster has no load balancers,
 * so `up` deploys no samples.
 */
export async function runWebPods(serverId: string): Promise<void> {
  const { agnhost } = createImageTable(defaultKubernetesVersion);
  const objects = [buildSamplesNamespace(), buildWebDeployment(agnhost)];
  await kubectlOn(serverId, applied(manifestOf(objects)));
  await kubectlOn(serverId, "-n stackadm-samples rollout status deployment web --timeout=120s");
}
