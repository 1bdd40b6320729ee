import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Component } from "../pulumi/component.js";
import { BlockStorage, type BlockStorageArgs } from "./block-storage.js";
import { CloudConfig } from "./cloud-config-secret.js";
import { CloudController } from "./cloud-controller.js";
import type { ClusterRanges } from "../../base/ip-addresses.js";
import { imageTable } from "../../base/versions/container-images.js";
import { IngressController, type IngressControllerArgs } from "./ingress-controller.js";
import { KeystoneAuth, type KeystoneAuthSpec } from "./keystone-auth.js";
import { MetricsServer, type MetricsServerArgs } from "./metrics-server.js";
import { routedByCloud, type PodNetworkSpec } from "../pod-network/pod-network-kinds.js";
import { isDeployed, PodNetwork } from "../pod-network/pod-network.js";
import { Samples } from "./samples.js";
import { machinesClass } from "../config/cloud/cloud-conf-keys.js";
import type { SampleServices } from "../config/load-balancing/sample-services.js";
import type { CloudAccess } from "./cloud-config-secret.js";
import type { ImageRegistry, ImageTable, OwnImages } from "../../base/versions/container-images.js";
import type { StorageClassSettings } from "./manifests/storage-class.js";
import { podNetwork } from "../config/network/pod-network.js";
import type { PinnedFileDirectories } from "../lookup/pinned-files.js";

/** Resources of the add-ons on which the cluster's teardown depends. */
export interface AddonsResources {
  readonly provider: kubernetes.Provider;
  /**
   * Resources that are needed to release load balancers and volumes. The teardown must depend on
   * these resources, so that they are deleted after the teardown.
   */
  readonly kept: readonly pulumi.Resource[];
}

/** Arguments of {@link Addons}. */
export interface AddonsArgs {
  /**
   * Name of the cluster, by which the Kubernetes provider identifies the cluster. Change: every
   * object is replaced.
   */
  readonly clusterName: string;
  /** Name on every load balancer and volume, unique in the project. Change: refused. */
  readonly nameInCloud: pulumi.Input<string>;
  /** Kubernetes version such as `1.36.3`; decides the versions of the add-ons. Change: in place. */
  readonly kubernetesVersion: string;
  /**
   * Registry with copies of the images. Change: in place.
   * @default the registries in which projects publish their images
   */
  readonly registry?: ImageRegistry;
  /**
   * Images of the user that replace single images. Change: in place, pods with these images
   * restart.
   * @default none
   */
  readonly ownImages?: OwnImages;
  /** Kubeconfig of the administrator, known only after the API server answers. Change: in place. */
  readonly kubeconfig: pulumi.Input<string>;
  /** Pod network. Change: refused. @default the pod network of a specification that names none */
  readonly podNetwork?: PodNetworkSpec;
  /**
   * Directories for the published manifest of a pod network, and for its cache. Change: in place.
   * @default see {@link PinnedFileDirectories}
   */
  readonly files?: PinnedFileDirectories | undefined;
  /**
   * Name of the API that machines resolve, for a pod network that starts before Services work.
   * Change: refused.
   * @default the pod network reaches the API as a Service
   */
  readonly apiName?: string;
  /** Range of pod addresses. Change: refused. */
  readonly podCidr: string;
  /** Range of cluster IPs. Change: refused. @default "10.96.0.0/12", kubeadm's */
  readonly serviceCidr?: string;
  /** IPv6 ranges of pods and Services. Change: refused. @default no IPv6 */
  readonly ipv6?: ClusterRanges | undefined;
  /** MTU of the nodes' network, in bytes. Change: in place, for new pods. */
  readonly networkMtu: pulumi.Input<number>;
  /** OpenStack as the controllers use it: URL, login, networks. Change: in place. */
  readonly cloud: CloudAccess;
  /** Whether a cloud controller is deployed. Change: refused. @default true */
  readonly cloudController?: boolean;
  /**
   * Settings of volumes. Change: in place.
   * @default volumes in the zone of their pod, no snapshots
   */
  readonly blockStorage?: Pick<BlockStorageArgs, "topology" | "snapshots" | "attachable">;
  /** Storage classes. Change: the StorageClass is replaced, its volumes are kept. */
  readonly storageClasses: readonly StorageClassSettings[];
  /** Settings of metrics-server. Change: in place. @default no metrics-server */
  readonly metricsServer?: Pick<MetricsServerArgs, "signedKubelets">;
  /**
   * Settings, key and certificate of the Keystone webhook. Change: in place.
   * @default Keystone users cannot sign in
   */
  readonly keystone?: KeystoneAuthSpec;
  /**
   * Settings of the ingress controller, and the address of the load balancer that the program
   * creates for `kind: workers`. Change: in place.
   * @default no ingress controller
   */
  readonly ingress?: Pick<IngressControllerArgs, "spec" | "taints" | "address">;
  /** Ranges of clients that load balancers of Services admit. Change: in place. @default all */
  readonly serviceRanges?: readonly string[];
  /** Whether sample Services and a sample claim are deployed. Change: in place. */
  readonly samples: boolean;
  /**
   * Settings of the sample Services. Change: in place.
   * @default one sample Service has a floating IP
   */
  readonly sampleServices?: SampleServices;
  /**
   * Resources that join the machines behind load balancers to the cluster. Services are created
   * after these resources, and deleted before them. Change: none.
   * @default none
   */
  readonly joins?: readonly pulumi.Resource[];
  /**
   * Creates the resource whose deletion waits until the cluster has released its load balancers and
   * volumes. Called once; the resource must depend on `kept`.
   * @default nothing waits
   */
  readonly teardown?: (resources: AddonsResources) => pulumi.Resource;
  /**
   * Resource whose deletion ends the cluster, such as the server of the first control plane.
   * Kubernetes objects that have no objects in OpenStack are then not deleted one by one. Change:
   * in place.
   * @default each object is deleted
   */
  readonly deletedWith?: pulumi.Resource;
  /**
   * Number of planned nodes. Each node adds a minute to the timeouts of DaemonSets. Change: none.
   * @default 0
   */
  readonly nodes?: number;
}

const usualNetwork = podNetwork.parse(undefined);

/** Common arguments of the add-ons that call OpenStack. */
interface Common extends Pick<AddonsArgs, "nameInCloud" | "deletedWith" | "nodes"> {
  readonly images: ImageTable;
  readonly cloudConfig: CloudConfig;
}

interface Inside {
  readonly providers: Readonly<Record<string, pulumi.ProviderResource>>;
}

/**
 * Add-ons of a cluster whose API answers: cloud controller, pod network, block storage, and
 * optional add-ons. Cloud controller, pod network and block storage do not wait for each other or
 * for workers. Each retries until the objects that it needs exist, so that no cycle can form.
 *
 * @example
 * new Addons("addons", {
 *   clusterName: "dev", nameInCloud, kubernetesVersion: "1.36.3", kubeconfig, networkMtu, ...
 * });
 */
export class Addons extends Component {
  static readonly type = "stackadm:addons:Addons";

  /** Kubernetes provider, with which the caller can create further objects. */
  readonly provider: kubernetes.Provider;
  /** Sample workloads. Absent without `samples`. */
  readonly samples?: Samples;
  /** Ingress controller. Absent without `ingress`. */
  readonly ingress?: IngressController;

  constructor(name: string, args: AddonsArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Addons.type, name, opts);
    const images = imageTable(args.kubernetesVersion, args.registry, args.ownImages);
    const { deletedWith } = args;
    this.provider = this.#createProvider(args);
    const inside = { providers: { kubernetes: this.provider } };

    const cloudConfig = this.make(
      CloudConfig,
      "cloud-config",
      { cloud: args.cloud, deletedWith },
      inside,
    );
    const { nameInCloud, nodes } = args;
    const common = { images, nameInCloud, cloudConfig, deletedWith, nodes };
    const network = this.#createNetwork(args, images);
    const controller = this.#cloudController(args, common, inside);
    const storage = this.#storage(args, common, network !== undefined);
    const balanced = [...controller, ...(args.joins ?? [])];
    this.#served(args, images, network !== undefined);
    // With `deletedWith`, the resources in `staying` exist until the cluster ends. The teardown
    // then need not depend on them, and does not wait for their pods. The teardown always depends
    // on the cloud controller, as Services do, so the engine deletes Services and teardown in
    // parallel.
    const staying = [...(network ? [network.daemonSet] : []), storage.controller, storage.node];
    const kept = [
      ...[...controller, cloudConfig.secret, ...storage.storageClasses],
      ...(deletedWith === undefined ? staying : []),
    ];
    const teardown = args.teardown?.({ provider: this.provider, kept });
    const stored = teardown === undefined ? kept : [...kept, teardown];
    const { serviceRanges: clients, cloud } = args;
    const balancing = { internalClass: cloud.machines && machinesClass, clients };
    if (args.ingress) {
      const { traefik: image } = images;
      const awaited = network !== undefined;
      const given = { ...args.ingress, image, awaited, deletedWith, balancing };
      const controller = { ...given, after: balanced };
      this.ingress = this.make(IngressController, "ingress", controller, inside);
    }
    if (args.samples) {
      this.samples = this.make(
        Samples,
        "samples",
        {
          image: images.agnhost,
          services: args.sampleServices,
          deletedWith,
          ingress: this.ingress?.parts,
          balancing,
          balanced,
          stored,
        },
        inside,
      );
    }
    this.registerOutputs({});
  }

  /**
   * Deploys the add-ons that the API server calls: metrics-server and Keystone webhook, if wanted.
   */
  #served(args: AddonsArgs, images: ImageTable, awaited: boolean): void {
    const { keystone: spec, cloud, deletedWith, nodes } = args;
    const inside = { providers: { kubernetes: this.provider } };
    if (args.metricsServer) {
      const { metricsServer: image } = images;
      const metrics = { ...args.metricsServer, image, awaited, deletedWith };
      this.make(MetricsServer, "metrics-server", metrics, inside);
    }
    if (spec) {
      const { keystoneAuth: image } = images;
      this.make(KeystoneAuth, "keystone-auth", { spec, image, cloud, deletedWith, nodes }, inside);
    }
  }

  #cloudController(args: AddonsArgs, common: Common, inside: Inside): pulumi.Resource[] {
    if (args.cloudController === false) return [];
    const image = common.images.cloudControllerManager;
    const routedPods = routedByCloud(args.podNetwork ?? usualNetwork) ? args.podCidr : undefined;
    const serial = args.cloud.settings?.loadBalancer?.providerRequiresSerialApiCalls;
    const settings = { ...common, image, routedPods, serial };
    const made = this.make(CloudController, "cloud-controller", settings, inside);
    return [made.daemonSet];
  }

  #storage(args: AddonsArgs, common: Common, awaitsPodNetwork: boolean): BlockStorage {
    return this.make(
      BlockStorage,
      "storage",
      {
        ...common,
        settings: args.cloud.settings,
        storageClasses: args.storageClasses,
        ...args.blockStorage,
        // The program does not know when a pod network that the user deploys is ready.
        awaitsPodNetwork,
      },
      { providers: { kubernetes: this.provider } },
    );
  }

  /** Deploys the pod network. Returns undefined if the user deploys the pod network. */
  #createNetwork(args: AddonsArgs, images: ImageTable): PodNetwork | undefined {
    const { podNetwork: spec = usualNetwork, podCidr, networkMtu, registry, ownImages } = args;
    const { serviceCidr = "10.96.0.0/12", ipv6, apiName, deletedWith, nodes, files } = args;
    if (!isDeployed(spec)) return undefined;
    const ranges = { podCidr, serviceCidr, ipv6 };
    return this.make(
      PodNetwork,
      "network",
      {
        spec,
        ...ranges,
        apiName,
        networkMtu,
        images,
        registry,
        ownImages,
        deletedWith,
        nodes,
        files,
      },
      { providers: { kubernetes: this.provider } },
    );
  }

  #createProvider({ kubeconfig, clusterName }: AddonsArgs): kubernetes.Provider {
    return this.make(kubernetes.Provider, "provider", {
      kubeconfig: pulumi.secret(kubeconfig),
      // Without this identifier, a new certificate in the kubeconfig would replace every object.
      clusterIdentifier: clusterName,
      enableServerSideApply: true,
      // A killed update leaves objects that are not in the state. The next update takes over these
      // objects and overwrites their values, because only this program uses these names.
      upsertExistingObjects: true,
      enablePatchForce: true,
      // A rotated credential changes the Secret in place. If the Secret was replaced, pods would
      // miss it for a moment.
      enableSecretMutable: true,
      enableConfigMapMutable: true,
    });
  }
}
