import type * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { computeChecksum } from "../../pulumi/checksum.js";
import { renderFlannelConfiguration } from "../flannel/manifests.js";
import { ManifestAddon } from "../manifest-addon.js";
import type { PodNetworkSettings } from "../pod-network.js";
import { canalRequiredParts, buildCanalObjects } from "./manifests.js";

/** Canal: flannel's tunnels with Calico's network policies, from the published manifest. */
export class Canal extends ManifestAddon {
  static readonly type = "stackadm:pod-network:Canal";

  /** DaemonSet of Canal. Pulumi waits until each existing node has its tunnel. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(
    name: string,
    args: PodNetworkSettings<"canal">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(Canal.type, name, args, opts);
    const { options, podCidr, registry, ownImages, files } = args;
    const { manifest } = options;
    const podMtu = pulumi.output(args.podMtu);
    const networkConfig = podMtu.apply((mtu) => renderFlannelConfiguration(podCidr, "vxlan", mtu));
    const objects = buildCanalObjects(this.read(manifest, canalRequiredParts, files), {
      networkConfig,
      registry,
      ownImages,
      podMtu: podMtu.apply(String),
      configChecksum: networkConfig.apply((text) => computeChecksum(manifest.sha256, text)),
    });
    this.daemonSet = this.deploy(objects, canalRequiredParts.daemonSet);
    this.registerOutputs({});
  }
}
