import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../../kubernetes-objects/addon.js";
import { computeChecksum } from "../../pulumi/checksum.js";
import {
  renderCniConfiguration,
  buildFlannelRbac,
  buildFlannelConfigMap,
  buildFlannelDaemonSet,
  buildFlannelNamespace,
  renderFlannelConfiguration,
} from "./manifests.js";
import type { PodNetworkSettings } from "../pod-network.js";

/**
 * flannel as pod network, with VXLAN or with routes between machines. flannel has no network
 * policies.
 */
export class Flannel extends Addon {
  static readonly type = "stackadm:addons:Flannel";

  /** DaemonSet of flannel. Pulumi waits until each existing node has its tunnel or its routes. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(
    name: string,
    args: PodNetworkSettings<"flannel">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(Flannel.type, name, args, opts);
    const { podCidr, ipv6, podMtu, images, options, apiName } = args;
    const namespace = this.object(
      kubernetes.core.v1.Namespace,
      "namespace",
      buildFlannelNamespace(),
    );
    const access = this.access(buildFlannelRbac(), namespace);
    const configuration = pulumi
      .output(podMtu)
      .apply((mtu) => renderFlannelConfiguration(podCidr, options.backend, mtu, ipv6?.pods));
    const configMap = this.object(
      kubernetes.core.v1.ConfigMap,
      "configuration",
      buildFlannelConfigMap(configuration),
      // The namespace must exist before its objects.
      { dependsOn: [namespace] },
    );
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      buildFlannelDaemonSet({
        images,
        dual: ipv6 !== undefined,
        apiName,
        configChecksum: configuration.apply((text) =>
          computeChecksum(renderCniConfiguration(), text),
        ),
      }),
      {
        // The API server refuses pods without their service account, and the pods fail without
        // permissions and configuration. These objects are therefore created first.
        dependsOn: [...access, configMap],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }
}
