/** The one place that picks the pod network. */
import type * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Addon } from "./addon.js";
import { KubeRouter } from "./kube-router.js";
import type { AddonArgs } from "./addon.js";
import type { ImageTable } from "./images.js";

/** Which pod network, with what only that one can be told. */
export interface PodNetwork {
  readonly kind: "kube-router";
}

/** Arguments of {@link NetworkPlugin}. */
export interface NetworkPluginArgs extends AddonArgs {
  /** The pod network. Change: refused. */
  readonly network: PodNetwork;
  readonly images: ImageTable;
  /** Range of pod addresses. Change: refused. */
  readonly podCidr: string;
  /** Range of cluster IPs. Change: refused. */
  readonly serviceCidr: string;
  /** MTU of the nodes' network, bytes. Change: in place, for new pods. */
  readonly podMtu: pulumi.Input<number>;
}

/** The pod network of the cluster, whichever it is. */
export class NetworkPlugin extends Addon {
  static readonly type = "stackadm:addons:NetworkPlugin";

  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: NetworkPluginArgs, opts?: pulumi.ComponentResourceOptions) {
    super(NetworkPlugin.type, name, args, opts);
    const { network, images, serviceCidr, podMtu, deletedWith } = args;
    // A kind without its row here is a type error. The pod range is not passed to kube-router: each
    // node's share of it stands in the Node object.
    const plugins: Record<PodNetwork["kind"], () => kubernetes.apps.v1.DaemonSet> = {
      "kube-router": () => {
        const settings = { image: images.kubeRouter, serviceCidr, podMtu, deletedWith };
        return this.make(KubeRouter, network.kind, settings).daemonSet;
      },
    };
    this.daemonSet = plugins[network.kind]();
    this.registerOutputs({});
  }
}
