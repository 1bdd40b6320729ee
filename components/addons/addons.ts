import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Component } from "../support/component.js";
import { BlockStorage, type BlockStorageArgs } from "./block-storage.js";
import { CloudConfig } from "./cloud-config.js";
import { CloudController } from "./cloud-controller.js";
import type { ClusterRanges } from "../../base/addresses.js";
import { imageTable } from "../../base/images.js";
import { IngressController, type IngressControllerArgs } from "./ingress-controller.js";
import { KeystoneAuth, type KeystoneAuthSpec } from "./keystone-auth.js";
import { MetricsServer, type MetricsServerArgs } from "./metrics-server.js";
import { routedByCloud, type PodNetworkSpec } from "../pod-network/kinds.js";
import { isDeployed, PodNetwork } from "../pod-network/pod-network.js";
import { Samples } from "./samples.js";
import { machinesClass } from "../spec/cloud-conf.js";
import type { SampleServices } from "../spec/sample-services.js";
import type { CloudAccess } from "./cloud-config.js";
import type { ImageRegistry, ImageTable, OwnImages } from "../../base/images.js";
import type { StorageClassSettings } from "./manifests/storage-class.js";
import { podNetwork } from "../spec/pod-network.js";
import type { PinnedFiles } from "../support/pinned-file.js";

/** What the cluster's teardown needs to know of the add-ons. */
export interface AddonsResources {
  readonly provider: kubernetes.Provider;
  /** What releases load balancers and volumes, or what that needs, and must outlive the teardown: depend on these. */
  readonly kept: readonly pulumi.Resource[];
}

/** Arguments of {@link Addons}. */
export interface AddonsArgs {
  /** Names the cluster among the stack's providers. Change: every object is replaced. */
  readonly clusterName: string;
  /** Unique in the project: on every load balancer and volume. Change: refused. */
  readonly nameInCloud: pulumi.Input<string>;
  /** Like `1.36.3`; decides the versions of the add-ons. Change: in place. */
  readonly kubernetesVersion: string;
  /** The site's copies of the images. Change: in place. @default where they are published */
  readonly registry?: ImageRegistry;
  /** Images that stand in for single ones. Change: in place, what runs them restarts. @default none */
  readonly ownImages?: OwnImages;
  /** Administrator's kubeconfig, known only after the API server answers. Change: in place. */
  readonly kubeconfig: pulumi.Input<string>;
  /** The pod network. Change: refused. @default that of a specification without one */
  readonly podNetwork?: PodNetworkSpec;
  /** Where the file of a pod network's manifest is, and is kept. Change: in place. @default see {@link PinnedFiles} */
  readonly files?: PinnedFiles | undefined;
  /** Name that machines know the API by, for a pod network that is there before Services are. Change: refused. @default it has none */
  readonly apiName?: string;
  /** Range of pod addresses. Change: refused. */
  readonly podCidr: string;
  /** Range of cluster IPs. Change: refused. @default "10.96.0.0/12", kubeadm's */
  readonly serviceCidr?: string;
  /** The same ranges of IPv6. Change: refused. @default there is none */
  readonly ipv6?: ClusterRanges | undefined;
  /** MTU of the nodes' network, bytes. Change: in place, for new pods. */
  readonly networkMtu: pulumi.Input<number>;
  /** The cloud, for the controllers inside the cluster. Change: in place. */
  readonly cloud: CloudAccess;
  /** Whether there is a cloud controller. Change: refused. @default true */
  readonly cloudController?: boolean;
  /** Volumes. Change: in place. @default in the zones of their pods */
  readonly blockStorage?: Pick<BlockStorageArgs, "topology" | "snapshots" | "attachable">;
  /** Storage classes. Change: the class is replaced, its volumes are not touched. */
  readonly storageClasses: readonly StorageClassSettings[];
  /** metrics-server, told whether kubelets' certificates are the cluster's. Change: in place. @default none */
  readonly metricsServer?: Pick<MetricsServerArgs, "signedKubelets">;
  /** Keystone's users, and what its webhook proves itself by. Change: in place. @default only the cluster's own are known */
  readonly keystone?: KeystoneAuthSpec;
  /** The ingress controller, and the address of the load balancer before it, if it is none of a Service. Change: in place. @default none */
  readonly ingress?: Pick<IngressControllerArgs, "spec" | "taints" | "address">;
  /** Whom the load balancers of Services let in. Change: in place. @default everybody */
  readonly serviceRanges?: readonly string[];
  /** Sample services and a sample claim. Change: in place. */
  readonly samples: boolean;
  /** How the sample services reach their clients. Change: in place. @default one has a floating IP */
  readonly sampleServices?: SampleServices;
  /**
   * What brings in the machines that load balancers lead to: their Services begin after it, and stay as long. Change: none.
   * @default nothing is waited for
   */
  readonly joins?: readonly pulumi.Resource[];
  /**
   * Makes what, when it is deleted, waits until the cluster has released its load balancers and
   * volumes. Called once; must depend on `kept`. @default nothing waits
   */
  readonly teardown?: (resources: AddonsResources) => pulumi.Resource;
  /**
   * Whatever ends the cluster when it is deleted, like the resource that ran `kubeadm init`: objects
   * that own nothing in the cloud are then not deleted one by one. Change: in place.
   * @default each object is deleted
   */
  readonly deletedWith?: pulumi.Resource;
  /** How many nodes the cluster is to have. Change: none. @default 0: none has time of its own */
  readonly nodes?: number;
}

const usualNetwork = podNetwork.parse(undefined);

/** What the parts that know the cloud have in common. */
interface Common extends Pick<AddonsArgs, "nameInCloud" | "deletedWith" | "nodes"> {
  readonly images: ImageTable;
  readonly cloudConfig: CloudConfig;
}

interface Inside {
  readonly providers: Readonly<Record<string, pulumi.ProviderResource>>;
}

/**
 * Everything that is deployed into a cluster that answers: cloud controller, pod network, block
 * storage, samples. Neither of the first three waits for another or for workers: each retries until
 * what it needs is there, so no circle can form.
 *
 * @example
 * new Addons("addons", { clusterName: "dev", nameInCloud, kubernetesVersion: "1.36.3", kubeconfig, networkMtu, ... });
 */
export class Addons extends Component {
  static readonly type = "stackadm:addons:Addons";

  /** For more objects of the caller's own. */
  readonly provider: kubernetes.Provider;
  /** Absent when no samples are asked for. */
  readonly samples?: Samples;
  /** Absent when none is asked for. */
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
    // What goes with the cluster stays until then by itself: nobody has to wait for its pods now for the sake of the end. But for the
    // controller's: with it, the teardown is as far from the beginning as load balancers are, and the engine ends both at once.
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
          ...{ image: images.agnhost, services: args.sampleServices, deletedWith },
          ...{ ingress: this.ingress?.parts, balancing, balanced, stored },
        },
        inside,
      );
    }
    this.registerOutputs({});
  }

  /** What the API server has served by others, where it is asked for. */
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
        // Nobody here knows when a pod network of the user's own is there.
        awaitsPodNetwork,
      },
      { providers: { kubernetes: this.provider } },
    );
  }

  /** Nothing, where the user brings the pod network along. */
  #createNetwork(args: AddonsArgs, images: ImageTable): PodNetwork | undefined {
    const { podNetwork: spec = usualNetwork, podCidr, networkMtu, registry, ownImages } = args;
    const { serviceCidr = "10.96.0.0/12", ipv6, apiName, deletedWith, nodes, files } = args;
    if (!isDeployed(spec)) return undefined;
    const ranges = { podCidr, serviceCidr, ipv6 };
    return this.make(
      PodNetwork,
      "network",
      {
        ...{ spec, ...ranges, apiName, networkMtu, images, registry, ownImages },
        ...{ deletedWith, nodes, files },
      },
      { providers: { kubernetes: this.provider } },
    );
  }

  #createProvider({ kubeconfig, clusterName }: AddonsArgs): kubernetes.Provider {
    return this.make(kubernetes.Provider, "provider", {
      kubeconfig: pulumi.secret(kubeconfig),
      // Without it a new certificate in the kubeconfig would replace every object.
      clusterIdentifier: clusterName,
      enableServerSideApply: true,
      // An update that was killed leaves objects that the state does not know; the names are ours,
      // so the next update takes them over and its values win.
      upsertExistingObjects: true,
      enablePatchForce: true,
      // A rotated credential changes the Secret in place instead of taking it from under its pods.
      enableSecretMutable: true,
      enableConfigMapMutable: true,
    });
  }
}
