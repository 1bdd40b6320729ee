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

/** flannel as pod network, by VXLAN or by routes of the machines, without network policies. */
export class Flannel extends Addon {
  static readonly type = "stackadm:addons:Flannel";

  /**
   * DaemonSet of flannel. Its creation ends when each node that existed at that time has its tunnel
   * or its routes.
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
      // order: objects need their namespace.
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
        // order: pods are refused without their service account, and fail without permissions and
        // configuration.
        dependsOn: [...access, configMap],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }
}
