/**
 * Adapts Canal's published manifest (flannel with Calico's network policies) to a cluster (pure
 * functions).
 */
import type { ImageRegistry, OwnImages } from "../../../base/versions/container-images.js";
import type { StringInput } from "../../kubernetes-objects/kubernetes-types.js";
import {
  applyChanges,
  replaceImages,
  setChecksumAnnotation,
  changeContainer,
  setConfigMapData,
  setEnvVars,
  type RequiredManifestParts,
  type ManifestObject,
} from "../manifest-objects.js";

export const canalRequiredParts: RequiredManifestParts = {
  configMap: "canal-config",
  daemonSet: "canal",
  containers: ["install-cni", "calico-node", "kube-flannel"],
};

/** Arguments of {@link buildCanalObjects}. */
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
export function buildCanalObjects(
  objects: readonly ManifestObject[],
  settings: CanalSettings,
): readonly ManifestObject[] {
  const { configMap, daemonSet } = canalRequiredParts;
  return applyChanges(objects, [
    replaceImages(settings.registry, settings.ownImages),
    setConfigMapData(configMap, {
      "net-conf.json": settings.networkConfig,
      veth_mtu: settings.podMtu,
    }),
    setChecksumAnnotation(daemonSet, settings.configChecksum),
    // flanneld uses the interface with the node's address, even if the machine has several
    // interfaces.
    changeContainer(
      daemonSet,
      "kube-flannel",
      setEnvVars({ FLANNELD_IFACE: { fieldPath: "status.hostIP" } }),
    ),
  ]);
}
