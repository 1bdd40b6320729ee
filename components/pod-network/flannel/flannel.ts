import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../../kubernetes-objects/addon.js";
import { checksum } from "../../pulumi/checksum.js";
import {
  cniConfiguration,
  flannelAccess,
  flannelConfigMap,
  flannelDaemonSet,
  flannelNamespace,
  networkConfiguration,
} from "./manifests.js";
import type { PodNetworkSettings } from "../pod-network.js";

/**
 * flannel as pod network, with VXLAN or with routes between machines. It has no network policies.
 */
export class Flannel extends Addon {
  static readonly type = "stackadm:addons:Flannel";

  /**
   * DaemonSet of flannel. Its creation ends when each existing node has its tunnel or its routes.
   */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(
    name: string,
    args: PodNetworkSettings<"flannel">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(Flannel.type, name, args, opts);
    const { podCidr, ipv6, podMtu, images, options, apiName } = args;
    const namespace = this.object(kubernetes.core.v1.Namespace, "namespace", flannelNamespace());
    const access = this.access(flannelAccess(), namespace);
    const configuration = pulumi
      .output(podMtu)
      .apply((mtu) => networkConfiguration(podCidr, options.backend, mtu, ipv6?.pods));
    const configMap = this.object(
      kubernetes.core.v1.ConfigMap,
      "configuration",
      flannelConfigMap(configuration),
      // The namespace must exist before its objects.
      { dependsOn: [namespace] },
    );
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      flannelDaemonSet({
        images,
        dual: ipv6 !== undefined,
        apiName,
        configChecksum: configuration.apply((text) => checksum(cniConfiguration(), text)),
      }),
      {
        // The API server refuses pods without their service account, and the pods fail without
        // permissions and configuration. So these are created first.
        dependsOn: [...access, configMap],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }
}
