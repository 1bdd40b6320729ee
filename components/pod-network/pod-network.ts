import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../addons/addon.js";
import { Flannel } from "./flannel/flannel.js";
import { podNetworks, type PodNetworkKind } from "./kinds.js";
import { KubeRouter } from "./kube-router/kube-router.js";
import type * as kubernetes from "@pulumi/kubernetes";
import type { ImageTable } from "../../base/images.js";
import type { AddonArgs } from "../addons/addon.js";

/** What every pod network is told; each takes what it needs. */
export interface PodNetworkSettings extends AddonArgs {
  /** Change: in place, one node after the other. */
  readonly images: ImageTable;
  /** Range of pod addresses. Change: refused. */
  readonly podCidr: string;
  /** Range of cluster IPs. Change: refused. */
  readonly serviceCidr: string;
  /** MTU of the pods' interfaces, bytes. Change: in place, for new pods. */
  readonly podMtu: pulumi.Input<number>;
}

/** Arguments of {@link PodNetwork}. */
export interface PodNetworkArgs extends Omit<PodNetworkSettings, "podMtu"> {
  /** The pod network. Change: refused. */
  readonly kind: PodNetworkKind;
  /** MTU of the nodes' network, bytes. Change: in place, for new pods. */
  readonly networkMtu: pulumi.Input<number>;
}

type Kind = new (
  name: string,
  args: PodNetworkSettings,
  opts?: pulumi.ComponentResourceOptions,
) => Addon & { readonly daemonSet: kubernetes.apps.v1.DaemonSet };

/** A kind without its row here is a type error. */
const components: Readonly<Record<PodNetworkKind, Kind>> = {
  "kube-router": KubeRouter,
  flannel: Flannel,
};

/** The pod network of the cluster, whichever it is: the one place that picks. */
export class PodNetwork extends Addon {
  // As it is in the state of clusters that exist.
  static readonly type = "stackadm:addons:NetworkPlugin";

  /** Created means that pods on each node then known reach those on all others. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: PodNetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super(PodNetwork.type, name, args, opts);
    const { kind, networkMtu, ...settings } = args;
    const { overhead } = podNetworks[kind];
    const podMtu = pulumi.output(networkMtu).apply((mtu) => mtu - overhead);
    this.daemonSet = this.make(components[kind], kind, { ...settings, podMtu }).daemonSet;
    this.registerOutputs({});
  }
}
