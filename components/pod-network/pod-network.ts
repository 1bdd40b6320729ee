import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../support/addon.js";
import type { ClusterRanges } from "../../base/addresses.js";
import { Calico } from "./calico/calico.js";
import { Canal } from "./canal/canal.js";
import { Flannel } from "./flannel/flannel.js";
import { overheadOf, type OptionsOf, type PodNetworkKind, type PodNetworkSpec } from "./kinds.js";
import { KubeRouter } from "./kube-router/kube-router.js";
import type * as kubernetes from "@pulumi/kubernetes";
import type { ImageRegistry, ImageTable, OwnImages } from "../../base/images.js";
import type { PinnedFiles } from "../support/pinned-file.js";
import type { AddonArgs } from "../support/addon.js";

/** What is deployed by the program. */
export type DeployedKind = Exclude<PodNetworkKind, "none">;

/** What every pod network is told; each takes what it needs. */
export interface PodNetworkSettings<Kind extends DeployedKind = DeployedKind> extends AddonArgs {
  /** The kind with its options. */
  readonly options: OptionsOf<Kind>;
  /** Change: in place, one node after the other. */
  readonly images: ImageTable;
  /** The site's copies, for images that a manifest names. Change: in place. @default where they are published */
  readonly registry?: ImageRegistry | undefined;
  /** What stands in for those. Change: in place, one node after the other. @default nothing */
  readonly ownImages?: OwnImages | undefined;
  /** Where a published manifest's file is, and is kept. Change: in place. @default see {@link PinnedFiles} */
  readonly files?: PinnedFiles | undefined;
  /** Range of pod addresses. Change: refused. */
  readonly podCidr: string;
  /** Range of cluster IPs. Change: refused. */
  readonly serviceCidr: string;
  /** The same ranges of IPv6. Change: refused. @default there is none */
  readonly ipv6?: ClusterRanges | undefined;
  /** Name that machines know the API by. Change: refused. @default it is reached as a Service */
  readonly apiName?: string | undefined;
  /** MTU of the pods' interfaces, bytes. Change: in place, for new pods. */
  readonly podMtu: pulumi.Input<number>;
}

/** Arguments of {@link PodNetwork}. */
export interface PodNetworkArgs extends Omit<PodNetworkSettings, "podMtu" | "options"> {
  /** The pod network. Change: refused. */
  readonly spec: OptionsOf<DeployedKind>;
  /** MTU of the nodes' network, bytes. Change: in place, for new pods. */
  readonly networkMtu: pulumi.Input<number>;
}

type Component<Kind extends DeployedKind> = new (
  name: string,
  args: PodNetworkSettings<Kind>,
  opts?: pulumi.ComponentResourceOptions,
) => Addon & { readonly daemonSet: kubernetes.apps.v1.DaemonSet };

/** A kind without its row here is a type error. */
const components: { readonly [Kind in DeployedKind]: Component<Kind> } = {
  "kube-router": KubeRouter,
  "cloud-routes": KubeRouter,
  flannel: Flannel,
  calico: Calico,
  canal: Canal,
};

/** Whether there is something to deploy: not for one that the user brings along. */
export const isDeployed = (spec: PodNetworkSpec): spec is OptionsOf<DeployedKind> =>
  spec.kind !== "none";

/** The pod network of the cluster, whichever it is: the one place that picks. */
export class PodNetwork extends Addon {
  // As it is in the state of clusters that exist.
  static readonly type = "stackadm:addons:NetworkPlugin";

  /** Created means that pods on each node then known reach those on all others. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: PodNetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super(PodNetwork.type, name, args, opts);
    const { spec, networkMtu, ...settings } = args;
    const overhead = overheadOf(spec, settings.ipv6 !== undefined);
    const podMtu = pulumi.output(networkMtu).apply((mtu) => mtu - overhead);
    const component = components[spec.kind] as Component<DeployedKind>;
    const { daemonSet } = this.make(component, spec.kind, { ...settings, options: spec, podMtu });
    this.daemonSet = daemonSet;
    this.registerOutputs({});
  }
}
