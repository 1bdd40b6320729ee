/** Objects of each pod network for an example cluster, by kind. */
import { createImageTable } from "../../../../base/versions/container-images.js";
import {
  buildFlannelRbac,
  buildFlannelConfigMap,
  buildFlannelDaemonSet,
  buildFlannelNamespace,
  renderFlannelConfiguration,
} from "../../../../components/pod-network/flannel/manifests.js";
import type { DeployedPodNetworkKind } from "../../../../components/pod-network/pod-network-kinds.js";
import {
  renderCniConfiguration,
  buildKubeRouterRbac,
  buildKubeRouterConfigMap,
  buildKubeRouterDaemonSet,
} from "../../../../components/pod-network/kube-router/manifests.js";
import { accessObjects, lookups, type AnyObject } from "../../../support/kubernetes-objects.js";

const images = createImageTable("1.36.3");
const configChecksum = "0".repeat(64);
/** Name of the API in the example cluster. */
export const apiName = "api.dev.internal";

/** Kinds whose objects the program builds. manifests.test.ts tests those with a manifest. */
type OwnKind = Exclude<DeployedPodNetworkKind, "calico" | "canal" | "cloud-routes">;

const router = (exchangesRoutes: boolean): readonly object[] => [
  ...accessObjects(buildKubeRouterRbac()),
  buildKubeRouterConfigMap(renderCniConfiguration(1350)),
  buildKubeRouterDaemonSet({
    image: images.kubeRouter,
    apiName,
    serviceCidrs: ["10.96.0.0/12"],
    exchangesRoutes,
    configChecksum,
  }),
];

const made: Readonly<Record<OwnKind, readonly object[]>> = {
  "kube-router": router(true),
  flannel: [
    buildFlannelNamespace(),
    ...accessObjects(buildFlannelRbac()),
    buildFlannelConfigMap(renderFlannelConfiguration("10.244.0.0/16", "vxlan", 1300)),
    buildFlannelDaemonSet({ images, configChecksum, apiName }),
  ],
};

/** All objects, by the name of their golden file. */
export const objects = made as Readonly<Record<string, readonly AnyObject[]>>;
/** Objects of kube-router with routes by the cloud; they have the same names. */
export const cloudRoutes = router(false) as readonly AnyObject[];
export const { find, podSpecs, podOf, containerOf, argsOf } = lookups(objects);
