import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Component } from "../pulumi/component.js";
import { joinLists, type ResourceList } from "../pulumi/resource-lists.js";
import { BlockStorage, type BlockStorageArgs } from "./block-storage.js";
import { CloudConfigSecret } from "./cloud-config-secret.js";
import { CloudController } from "./cloud-controller.js";
import type { PodAndServiceRanges } from "../../base/ip-addresses.js";
import { createImageTable } from "../../base/versions/container-images.js";
import { IngressController, type IngressControllerArgs } from "./ingress-controller.js";
import { KeystoneAuth, type KeystoneAuthSpec } from "./keystone-auth.js";
import { MetricsServer, type MetricsServerArgs } from "./metrics-server.js";
import {
  isDeployedByProgram,
  isRoutedByCloud,
  type PodNetworkSpec,
} from "../pod-network/pod-network-kinds.js";
import { PodNetwork } from "../pod-network/pod-network.js";
import { Samples } from "./samples.js";
import { UserAddon } from "./user-addon.js";
import { machinesLoadBalancerClass } from "../config/cloud/cloud-conf-keys.js";
import type { ClusterAddonName, OrderedAddon } from "../config/kubernetes/user-addons.js";
import type { SampleServices } from "../config/load-balancing/sample-services.js";
import type { CloudAccess } from "./cloud-config-secret.js";
import type { ImageRegistry, ImageTable, OwnImages } from "../../base/versions/container-images.js";
import type { StorageClassSettings } from "./manifests/storage-class.js";
import type { Taint } from "../kubernetes-objects/pod-settings.js";
import { podNetworkSchema } from "../config/network/pod-network.js";
import type { PinnedFileDirectories } from "../lookup/pinned-files.js";

/** Resources of the add-ons that the teardown of the cluster needs. */
export interface TeardownDependencies {
  readonly provider: kubernetes.Provider;
  /**
   * Resources that must work while load balancers and volumes are released. The teardown must
   * depend on these resources, because Pulumi then deletes the teardown first.
   */
  readonly kept: readonly pulumi.Resource[];
}

/**
 * Arguments of {@link Addons}. A changed argument updates the objects in place, unless the comment
 * of the argument says otherwise.
 */
export interface AddonsArgs {
  /**
   * Name of the cluster. The Kubernetes provider uses it as the cluster identifier, so a change
   * replaces every object.
   */
  readonly clusterName: string;
  /**
   * Name of the cluster in OpenStack, unique in the project. The name of every load balancer and
   * the metadata of every volume contain it. A change is refused while the cluster exists.
   */
  readonly nameInCloud: pulumi.Input<string>;
  /** Kubernetes version such as `1.36.3`, which determines the versions of the add-ons. */
  readonly kubernetesVersion: string;
  /**
   * Registry with copies of the images.
   * @default the registries in which projects publish their images
   */
  readonly registry?: ImageRegistry;
  /**
   * Images that the user supplies in place of the program's images. A change restarts the pods with
   * these images.
   * @default none
   */
  readonly ownImages?: OwnImages;
  /** Kubeconfig of the administrator. Becomes known only when the API server answers. */
  readonly kubeconfig: pulumi.Input<string>;
  /**
   * Pod network. A change is refused while the cluster exists.
   * @default the default of `podNetworkSchema` in a specification
   */
  readonly podNetwork?: PodNetworkSpec;
  /**
   * Directories for the published manifest of a pod network and for its cache.
   * @default see {@link PinnedFileDirectories}
   */
  readonly files?: PinnedFileDirectories | undefined;
  /**
   * Host name of the API, which each machine resolves itself. A pod network that starts before
   * Services work needs it. A change is refused while the cluster exists.
   * @default the pod network reaches the API through its Service
   */
  readonly apiName?: string;
  /** CIDR of the pods. A change is refused while the cluster exists. */
  readonly podCidr: string;
  /**
   * CIDR of the Services' cluster IPs. A change is refused while the cluster exists.
   * @default "10.96.0.0/12", which is kubeadm's default
   */
  readonly serviceCidr?: string;
  /**
   * IPv6 CIDRs of pods and Services. A change is refused while the cluster exists.
   * @default no IPv6
   */
  readonly ipv6?: PodAndServiceRanges | undefined;
  /** MTU of the nodes' network, in bytes. A change affects only new pods. */
  readonly networkMtu: pulumi.Input<number>;
  /** URL, login and networks with which the controllers use OpenStack. */
  readonly cloud: CloudAccess;
  /**
   * Whether the OpenStack cloud controller is deployed. A change is refused while the cluster
   * exists.
   * @default true
   */
  readonly cloudController?: boolean;
  /**
   * Settings of volumes.
   * @default volumes are created in the zone of their pod, and snapshots are not available
   */
  readonly blockStorage?: Pick<BlockStorageArgs, "topology" | "snapshots" | "attachable">;
  /** Storage classes. A change may replace the StorageClass object. Existing volumes are kept. */
  readonly storageClasses: readonly StorageClassSettings[];
  /** Settings of metrics-server. @default metrics-server is not deployed */
  readonly metricsServer?: Pick<MetricsServerArgs, "signedKubelets">;
  /**
   * Settings, key and certificate of the Keystone webhook.
   * @default Keystone users cannot log in to Kubernetes
   */
  readonly keystone?: KeystoneAuthSpec;
  /**
   * Settings of the ingress controller. With `kind: workers`, also the address of the load balancer
   * that the program creates.
   * @default no ingress controller
   */
  readonly ingress?: Pick<IngressControllerArgs, "spec" | "taints" | "address">;
  /**
   * Taints of the control planes, in addition to the taint of kubeadm. The add-ons on control planes
   * tolerate them. A change restarts these add-ons.
   * @default none
   */
  readonly controlPlaneTaints?: readonly Taint[];
  /** CIDRs from which the load balancers of Services accept clients. @default all addresses */
  readonly serviceClientRanges?: pulumi.Input<string[]>;
  /** Whether sample Services and a sample persistent volume claim are deployed. */
  readonly samples: boolean;
  /** Settings of the sample Services. @default one sample Service has a floating IP */
  readonly sampleServices?: SampleServices;
  /** Add-ons of the user, each after those that it names. @default none */
  readonly userAddons?: readonly OrderedAddon[];
  /**
   * Whether the settings contain an encrypted value. The plan then hides the objects of add-ons
   * whose text is in the settings.
   * @default false
   */
  readonly encrypted?: boolean;
  /**
   * Resources that join the workers to the cluster. Load balancers send traffic to the workers, so
   * Services are created after these resources and deleted before them.
   * @default none
   */
  readonly joins?: ResourceList;
  /**
   * Function that creates the teardown resource. Deleting this resource waits until the cluster has
   * released its load balancers and volumes. The function is called once, and the resource must
   * depend on `kept`.
   * @default a destroy does not wait
   */
  readonly teardown?: (resources: TeardownDependencies) => pulumi.Resource;
  /**
   * Resource whose deletion deletes the cluster, such as the server of the first control plane. If
   * this argument is set, Pulumi deletes only those Kubernetes objects one by one that own an
   * object in OpenStack.
   * @default Pulumi deletes each object
   */
  readonly deletedWith?: pulumi.Resource;
  /**
   * Number of planned nodes. Each node adds one minute to the timeouts of DaemonSets. A change
   * alone updates no object.
   * @default 0
   */
  readonly nodes?: number;
}

const usualNetwork = podNetworkSchema.parse(undefined);

/** Arguments that the add-ons that call OpenStack have in common. */
interface Common extends Pick<
  AddonsArgs,
  "nameInCloud" | "deletedWith" | "nodes" | "controlPlaneTaints"
> {
  readonly images: ImageTable;
  readonly cloudConfig: CloudConfigSecret;
}

interface Inside {
  readonly providers: Readonly<Record<string, pulumi.ProviderResource>>;
}

/**
 * Add-ons of a cluster whose API server answers: cloud controller, pod network, block storage, and
 * optional add-ons. Cloud controller, pod network and block storage wait neither for each other nor
 * for workers. Each of the three retries until the objects that it needs exist, so no dependency
 * cycle can form.
 *
 * @example
 * new Addons("addons", {
 *   clusterName: "dev", nameInCloud, kubernetesVersion: "1.36.3", kubeconfig, networkMtu, ...
 * });
 */
export class Addons extends Component {
  static readonly type = "stackadm:addons:Addons";

  /** Kubernetes provider. The caller can create further objects with it. */
  readonly provider: kubernetes.Provider;
  /** Sample workloads. Undefined if `samples` is false. */
  readonly samples?: Samples;
  /** Ingress controller. Undefined if `ingress` is not set. */
  readonly ingress?: IngressController;
  /** Add-ons of the cluster and of the user, by the names that `after` accepts. */
  readonly #deployed = new Map<string, pulumi.Resource>();

  constructor(name: string, args: AddonsArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Addons.type, name, opts);
    const images = createImageTable(args.kubernetesVersion, args.registry, args.ownImages);
    const { deletedWith } = args;
    this.provider = this.#createProvider(args);
    const inside = { providers: { kubernetes: this.provider } };

    const cloudConfig = this.make(
      CloudConfigSecret,
      "cloud-config",
      { cloud: args.cloud, deletedWith },
      inside,
    );
    const { nameInCloud, nodes, controlPlaneTaints } = args;
    const common = { images, nameInCloud, cloudConfig, deletedWith, nodes, controlPlaneTaints };
    const network = this.#createNetwork(args, images);
    const controller = this.#cloudController(args, common, inside);
    const storage = this.#storage(args, common, network !== undefined);
    const balanced = joinLists(controller, args.joins ?? []);
    this.#served(args, images, network !== undefined);
    // With `deletedWith`, the objects in `staying` exist until the cluster is deleted. The teardown
    // then need not depend on these objects, and its creation need not wait for their pods. Both
    // the teardown and the Services depend on the cloud controller. Pulumi therefore deletes the
    // Services and the teardown in parallel.
    const staying = [...(network ? [network.daemonSet] : []), storage.controller, storage.node];
    const kept = [
      ...[...controller, cloudConfig.secret, ...storage.storageClasses],
      ...(deletedWith === undefined ? staying : []),
    ];
    const teardown = args.teardown?.({ provider: this.provider, kept });
    const stored = teardown === undefined ? kept : [...kept, teardown];
    const { serviceClientRanges: clients, cloud } = args;
    const balancing = { internalClass: cloud.machines && machinesLoadBalancerClass, clients };
    if (args.ingress) {
      const { traefik: image } = images;
      const awaited = network !== undefined;
      const given = { ...args.ingress, image, awaited, deletedWith, balancing };
      const controller = { ...given, after: balanced };
      this.ingress = this.#add(
        "ingress",
        this.make(IngressController, "ingress", controller, inside),
      );
    }
    if (args.samples) {
      const { agnhost: image } = images;
      const ingress = this.ingress?.parts;
      const given = { image, services: args.sampleServices, deletedWith, ingress, balancing };
      const samples = { ...given, balanced, stored };
      this.samples = this.#add("samples", this.make(Samples, "samples", samples, inside));
    }
    this.#ofUser(args, joinLists(stored, balanced), inside);
    this.registerOutputs({});
  }

  /** Records a part of the cluster that add-ons of the user may wait for. Returns the part. */
  #add<Part extends pulumi.Resource>(name: ClusterAddonName, part: Part): Part {
    this.#deployed.set(name, part);
    return part;
  }

  /** Deploys the add-ons of the user. `keeping` must exist until they are deleted. */
  #ofUser(args: AddonsArgs, keeping: ResourceList, inside: Inside): void {
    const { userAddons = [], files, encrypted = false, deletedWith } = args;
    for (const addon of userAddons) {
      const after = addon.after.flatMap((name) => this.#deployed.get(name) ?? []);
      const secret = encrypted && addon.yaml !== undefined;
      const given = { addon, files, secret, after, keeping, deletedWith };
      this.#deployed.set(addon.name, this.make(UserAddon, `user-${addon.name}`, given, inside));
    }
  }

  /**
   * Deploys the add-ons that the API server calls: metrics-server and Keystone webhook, if
   * requested.
   */
  #served(args: AddonsArgs, images: ImageTable, awaited: boolean): void {
    const { keystone: spec, cloud, deletedWith, nodes, controlPlaneTaints } = args;
    const inside = { providers: { kubernetes: this.provider } };
    if (args.metricsServer) {
      const { metricsServer: image } = images;
      const metrics = { ...args.metricsServer, image, awaited, deletedWith, controlPlaneTaints };
      this.#add("metricsServer", this.make(MetricsServer, "metrics-server", metrics, inside));
    }
    if (spec) {
      const { keystoneAuth: image } = images;
      const webhook = { spec, image, cloud, deletedWith, nodes, controlPlaneTaints };
      this.#add("keystone", this.make(KeystoneAuth, "keystone-auth", webhook, inside));
    }
  }

  #cloudController(args: AddonsArgs, common: Common, inside: Inside): pulumi.Resource[] {
    if (args.cloudController === false) return [];
    const image = common.images.cloudControllerManager;
    const routedPods = isRoutedByCloud(args.podNetwork ?? usualNetwork) ? args.podCidr : undefined;
    const serial = args.cloud.settings?.loadBalancer?.providerRequiresSerialApiCalls;
    const settings = { ...common, image, routedPods, serial };
    const made = this.make(CloudController, "cloud-controller", settings, inside);
    return [this.#add("cloudController", made).daemonSet];
  }

  #storage(args: AddonsArgs, common: Common, awaitsPodNetwork: boolean): BlockStorage {
    const settings = {
      ...common,
      settings: args.cloud.settings,
      storageClasses: args.storageClasses,
      ...args.blockStorage,
      // If the user deploys the pod network, the program does not know when the pod network is
      // ready. Pulumi must then not wait for pods.
      awaitsPodNetwork,
    };
    const inside = { providers: { kubernetes: this.provider } };
    return this.#add("blockStorage", this.make(BlockStorage, "storage", settings, inside));
  }

  /** Deploys the pod network. Returns undefined if the user deploys it. */
  #createNetwork(args: AddonsArgs, images: ImageTable): PodNetwork | undefined {
    const { podNetwork: spec = usualNetwork, podCidr, networkMtu, registry, ownImages } = args;
    const { serviceCidr = "10.96.0.0/12", ipv6, apiName, deletedWith, nodes, files } = args;
    if (!isDeployedByProgram(spec)) return undefined;
    const ranges = { podCidr, serviceCidr, ipv6 };
    const all = { images, registry, ownImages, deletedWith, nodes, files };
    const settings = { spec, ...ranges, apiName, networkMtu, ...all };
    const inside = { providers: { kubernetes: this.provider } };
    return this.#add("podNetwork", this.make(PodNetwork, "network", settings, inside));
  }

  #createProvider({ kubeconfig, clusterName }: AddonsArgs): kubernetes.Provider {
    return this.make(kubernetes.Provider, "provider", {
      kubeconfig: pulumi.secret(kubeconfig),
      // Without this identifier, the provider would replace every object when the kubeconfig gets a
      // new certificate.
      clusterIdentifier: clusterName,
      enableServerSideApply: true,
      // A killed update leaves objects that are missing in the state. The next update adopts and
      // overwrites these objects, because only this program uses their names.
      upsertExistingObjects: true,
      enablePatchForce: true,
      // A rotated credential changes the Secret in place. A replacement would delete the Secret for
      // a moment, and pods could not read it.
      enableSecretMutable: true,
      enableConfigMapMutable: true,
      // The SDK would otherwise take these values from environment variables. An API that does not
      // answer for a moment would then remove living objects from the state.
      deleteUnreachable: false,
      skipUpdateUnreachable: false,
    });
  }
}
