import type * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { computeChecksum } from "../../pulumi/checksum.js";
import { ManifestAddon } from "../manifest-addon.js";
import type { PodNetworkSettings } from "../pod-network.js";
import { calicoRequiredParts, getCalicoRequiredParts, buildCalicoObjects } from "./manifests.js";

/** Pod network and network policies of Calico, from its published manifest. */
export class Calico extends ManifestAddon {
  static readonly type = "stackadm:pod-network:Calico";

  /** DaemonSet of Calico. Pulumi waits until each existing node has its routes. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(
    name: string,
    args: PodNetworkSettings<"calico">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(Calico.type, name, args, opts);
    const { options, podCidr, registry, ownImages, files } = args;
    const { manifest, encapsulation } = options;
    const podMtu = pulumi.output(args.podMtu).apply(String);
    const objects = buildCalicoObjects(this.read(manifest, getCalicoRequiredParts(args), files), {
      encapsulation,
      podCidr,
      ipv6Pods: args.ipv6?.pods,
      podMtu,
      registry,
      ownImages,
      configChecksum: podMtu.apply((mtu) => computeChecksum(manifest.sha256, encapsulation, mtu)),
    });
    this.daemonSet = this.deploy(objects, calicoRequiredParts.daemonSet);
    this.registerOutputs({});
  }
}
