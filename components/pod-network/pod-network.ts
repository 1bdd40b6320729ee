import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import type { PodAndServiceRanges } from "../../base/ip-addresses.js";
import { Calico } from "./calico/calico.js";
import { Canal } from "./canal/canal.js";
import { Flannel } from "./flannel/flannel.js";
import {
  getEncapsulationOverhead,
  type DeployedPodNetworkKind,
  type PodNetworkOptionsOf,
} from "./pod-network-kinds.js";
import { KubeRouter } from "./kube-router/kube-router.js";
import type * as kubernetes from "@pulumi/kubernetes";
import type { ImageRegistry, ImageTable, OwnImages } from "../../base/versions/container-images.js";
import type { PinnedFileDirectories } from "../lookup/pinned-files.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";

/**
 * Arguments that every pod network component gets. A component ignores arguments that it does not
 * need. A changed argument updates the objects in place, unless the comment of the argument says
 * otherwise.
 */
export interface PodNetworkSettings<
  Kind extends DeployedPodNetworkKind = DeployedPodNetworkKind,
> extends AddonArgs {
  /** Options of the pod network in the specification. The schema says which options can change. */
  readonly options: PodNetworkOptionsOf<Kind>;
  /** Images by name. A change restarts the pod network on one node after another. */
  readonly images: ImageTable;
  /** Registry with copies of the images that a published manifest names. @default none */
  readonly registry?: ImageRegistry | undefined;
  /**
   * Images that the user supplies in place of images of a published manifest. A change restarts the
   * pod network on one node after another.
   * @default none
   */
  readonly ownImages?: OwnImages | undefined;
  /**
   * Directories for published manifests and for their cache.
   * @default see {@link PinnedFileDirectories}
   */
  readonly files?: PinnedFileDirectories | undefined;
  /** CIDR of the pods. A change is refused while the cluster exists. */
  readonly podCidr: string;
  /** CIDR of the Services' cluster IPs. A change is refused while the cluster exists. */
  readonly serviceCidr: string;
  /**
   * IPv6 CIDRs of pods and Services. A change is refused while the cluster exists.
   * @default no IPv6
   */
  readonly ipv6?: PodAndServiceRanges | undefined;
  /**
   * Host name of the API, which each machine resolves itself. A change is refused while the cluster
   * exists.
   * @default the pod network reaches the API through its Service
   */
  readonly apiName?: string | undefined;
  /** MTU of the pods' interfaces, in bytes. A change affects only new pods. */
  readonly podMtu: pulumi.Input<number>;
}

/** Arguments of {@link PodNetwork}. */
export interface PodNetworkArgs extends Omit<PodNetworkSettings, "podMtu" | "options"> {
  /**
   * Pod network with its options. A change of the kind is refused while the cluster exists. The
   * schema says which options can change.
   */
  readonly spec: PodNetworkOptionsOf<DeployedPodNetworkKind>;
  /** MTU of the nodes' network, in bytes. A change affects only new pods. */
  readonly networkMtu: pulumi.Input<number>;
}

type Component<Kind extends DeployedPodNetworkKind> = new (
  name: string,
  args: PodNetworkSettings<Kind>,
  opts?: pulumi.ComponentResourceOptions,
) => Addon & { readonly daemonSet: kubernetes.apps.v1.DaemonSet };

/** Component of each pod network. The compiler reports a pod network that has no component. */
const components: { readonly [Kind in DeployedPodNetworkKind]: Component<Kind> } = {
  "kube-router": KubeRouter,
  "cloud-routes": KubeRouter,
  flannel: Flannel,
  calico: Calico,
  canal: Canal,
};

/** Pod network of the cluster. Only this class selects the component for the `kind`. */
export class PodNetwork extends Addon {
  // The state of existing clusters contains this type, so it must not change.
  static readonly type = "stackadm:addons:NetworkPlugin";

  /**
   * DaemonSet of the pod network. Pulumi waits until pods on all existing nodes reach each other.
   */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: PodNetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super(PodNetwork.type, name, args, opts);
    const { spec, networkMtu, ...settings } = args;
    const overhead = getEncapsulationOverhead(spec, settings.ipv6 !== undefined);
    const podMtu = pulumi.output(networkMtu).apply((mtu) => mtu - overhead);
    const component = components[spec.kind] as Component<DeployedPodNetworkKind>;
    const { daemonSet } = this.make(component, spec.kind, { ...settings, options: spec, podMtu });
    this.daemonSet = daemonSet;
    this.registerOutputs({});
  }
}
