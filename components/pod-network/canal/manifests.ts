/**
 * Adapts Canal's published manifest (flannel with Calico's network policies) to a cluster (pure
 * functions).
 */
import type { ImageRegistry, OwnImages } from "../../../base/versions/container-images.js";
import type { StringInput } from "../../kubernetes-objects/kubernetes-types.js";
import {
  applyChanges,
  withClusterImages,
  withChecksum,
  withChangedContainer,
  withConfigMapData,
  withEnvVars,
  type ManifestAnchors,
  type ManifestObject,
} from "../manifest-objects.js";

export const canalAnchors: ManifestAnchors = {
  configMap: "canal-config",
  daemonSet: "canal",
  containers: ["install-cni", "calico-node", "kube-flannel"],
};

/** Arguments of {@link canalObjects}. */
export interface CanalSettings {
  /** MTU of the pods' interfaces, in bytes. */
  readonly podMtu: StringInput;
  /** Configuration of flannel (pod-network/flannel/manifests.ts). */
  readonly networkConfig: StringInput;
  readonly registry: ImageRegistry | undefined;
  /** Images that the user supplies in place of images of the manifest. */
  readonly ownImages?: OwnImages | undefined;
  /**
   * Digest of the values in the ConfigMap. The pods install these values when they start, so a
   * changed digest restarts the pods.
   */
  readonly configChecksum: StringInput;
}

/** Returns the objects of the manifest with the settings of the cluster. */
export function canalObjects(
  objects: readonly ManifestObject[],
  settings: CanalSettings,
): readonly ManifestObject[] {
  const { configMap, daemonSet } = canalAnchors;
  return applyChanges(objects, [
    withClusterImages(settings.registry, settings.ownImages),
    withConfigMapData(configMap, {
      "net-conf.json": settings.networkConfig,
      veth_mtu: settings.podMtu,
    }),
    withChecksum(daemonSet, settings.configChecksum),
    // flanneld uses the interface with the node's address, even if the machine has several
    // interfaces.
    withChangedContainer(
      daemonSet,
      "kube-flannel",
      withEnvVars({ FLANNELD_IFACE: { fieldPath: "status.hostIP" } }),
    ),
  ]);
}
