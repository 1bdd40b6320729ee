/** Objects of each pod network for an example cluster, by kind. */
import { imageTable } from "../../../../base/versions/container-images.js";
import {
  flannelAccess,
  flannelConfigMap,
  flannelDaemonSet,
  flannelNamespace,
  networkConfiguration,
} from "../../../../components/pod-network/flannel/manifests.js";
import type { DeployedPodNetworkKind } from "../../../../components/pod-network/pod-network.js";
import {
  cniConfiguration,
  kubeRouterAccess,
  kubeRouterConfigMap,
  kubeRouterDaemonSet,
} from "../../../../components/pod-network/kube-router/manifests.js";
import { accessObjects, lookups, type AnyObject } from "../../../support/kubernetes-objects.js";

const images = imageTable("1.36.3");
const configChecksum = "0".repeat(64);
/** Name of the API in the example cluster. */
export const apiName = "api.dev.internal";

/** Kinds whose objects the program builds. manifests.test.ts tests those with a manifest. */
type OwnKind = Exclude<DeployedPodNetworkKind, "calico" | "canal" | "cloud-routes">;

const router = (exchangesRoutes: boolean): readonly object[] => [
  ...accessObjects(kubeRouterAccess()),
  kubeRouterConfigMap(cniConfiguration(1350)),
  kubeRouterDaemonSet({
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
    flannelNamespace(),
    ...accessObjects(flannelAccess()),
    flannelConfigMap(networkConfiguration("10.244.0.0/16", "vxlan", 1300)),
    flannelDaemonSet({ images, configChecksum, apiName }),
  ],
};

/** All objects, by the name of their golden file. */
export const objects = made as Readonly<Record<string, readonly AnyObject[]>>;
/** Objects of kube-router with routes by the cloud; they have the same names. */
export const cloudRoutes = router(false) as readonly AnyObject[];
export const { find, podSpecs, podOf, containerOf, argsOf } = lookups(objects);
