import type * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { checksum } from "../../pulumi/checksum.js";
import { networkConfiguration } from "../flannel/manifests.js";
import { ManifestAddon } from "../manifest-addon.js";
import type { PodNetworkSettings } from "../pod-network.js";
import { canalAnchors, canalObjects } from "./manifests.js";

/** Canal: flannel's tunnels with Calico's network policies, from the published manifest. */
export class Canal extends ManifestAddon {
  static readonly type = "stackadm:pod-network:Canal";

  /** DaemonSet of Canal. Its creation ends when each existing node has its tunnel. */
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
    const networkConfig = podMtu.apply((mtu) => networkConfiguration(podCidr, "vxlan", mtu));
    const objects = canalObjects(this.read(manifest, canalAnchors, files), {
      networkConfig,
      registry,
      ownImages,
      podMtu: podMtu.apply(String),
      configChecksum: networkConfig.apply((text) => checksum(manifest.sha256, text)),
    });
    this.daemonSet = this.deploy(objects, canalAnchors.daemonSet);
    this.registerOutputs({});
  }
}
