import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, workloadTimeouts } from "../../addons/addon.js";
import { checksum } from "../../support/checksum.js";
import {
  cniConfiguration,
  kubeRouterAccess,
  kubeRouterConfigMap,
  kubeRouterDaemonSet,
} from "./manifests.js";
import { routedByCloud } from "../kinds.js";
import type { PodNetworkSettings } from "../pod-network.js";

/** Attaches pods to their machine, enforces network policies, and keeps the routes between machines by BGP, or has the cloud keep them. */
export class KubeRouter extends Addon {
  static readonly type = "stackadm:addons:KubeRouter";

  /** Created means that each node then known routes pods. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(
    name: string,
    args: PodNetworkSettings<"kube-router"> | PodNetworkSettings<"cloud-routes">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(KubeRouter.type, name, args, opts);
    const access = this.access(kubeRouterAccess());
    const configuration = pulumi.output(args.podMtu).apply(cniConfiguration);
    const configMap = this.object(
      kubernetes.core.v1.ConfigMap,
      "cni",
      kubeRouterConfigMap(configuration),
    );
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      // The pod range is not passed on: each node's share of it stands in the Node object.
      kubeRouterDaemonSet({
        image: args.images.kubeRouter,
        serviceCidr: args.serviceCidr,
        exchangesRoutes: !routedByCloud(args.options),
        configChecksum: configuration.apply((text) => checksum(text)),
      }),
      {
        // order: pods without their account are refused, without rights and configuration they fail.
        dependsOn: [...access, configMap],
        customTimeouts: workloadTimeouts,
      },
    );
    this.registerOutputs({});
  }
}
