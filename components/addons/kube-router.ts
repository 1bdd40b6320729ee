import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, workloadTimeouts } from "./addon.js";
import { checksum } from "./cloud-config.js";
import {
  cniConfiguration,
  kubeRouterAccess,
  kubeRouterConfigMap,
  kubeRouterDaemonSet,
} from "./manifests/kube-router.js";
import type { AddonArgs } from "./addon.js";

/** Arguments of {@link KubeRouter}. */
export interface KubeRouterArgs extends AddonArgs {
  /** Image of the router. Change: in place, one node after the other. */
  readonly image: string;
  /** Range of cluster IPs. Change: refused. */
  readonly serviceCidr: string;
  /** MTU of the nodes' network, bytes; pods get the same. Change: in place, for new pods. */
  readonly podMtu: pulumi.Input<number>;
}

/** Pod network by BGP without encapsulation, and network policies. */
export class KubeRouter extends Addon {
  static readonly type = "stackadm:addons:KubeRouter";

  /** Created means that each node then known routes pods. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: KubeRouterArgs, opts?: pulumi.ComponentResourceOptions) {
    super(KubeRouter.type, name, args, opts);
    const access = this.access(kubeRouterAccess());
    const configuration = pulumi.output(args.podMtu).apply(cniConfiguration);
    const configMap = this.object(
      kubernetes.core.v1.ConfigMap,
      "cni",
      kubeRouterConfigMap<pulumi.Input<string>>(configuration),
    );
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      kubeRouterDaemonSet<pulumi.Input<string>>({
        image: args.image,
        serviceCidr: args.serviceCidr,
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
