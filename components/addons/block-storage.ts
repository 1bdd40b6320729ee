import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { checksum } from "../support/checksum.js";
import { Addon } from "../support/addon.js";
import { renderNodeConf, type CloudSettings } from "./cloud-conf.js";
import { blockStorageAccess, blockStorageController } from "./manifests/block-storage.js";
import {
  blockStorageNode,
  blockStorageNodeAccount,
  nodeConfig,
} from "./manifests/block-storage-node.js";
import { Snapshots } from "./snapshots.js";
import { cinderCsiDriver, storageClass } from "./manifests/storage-class.js";
import type { AddonArgs } from "../support/addon.js";
import type { CloudConfig } from "./cloud-config.js";
import type { ImageTable } from "../../base/images.js";
import type { StorageClassSettings } from "./manifests/storage-class.js";

/** Arguments of {@link BlockStorage}. */
export interface BlockStorageArgs extends AddonArgs {
  /** Images of driver and sidecars. Change: in place. */
  readonly images: ImageTable;
  /** Unique in the project; written on every volume. Change: refused. */
  readonly nameInCloud: pulumi.Input<string>;
  /** Whether a pod network comes with the cluster, for which the controller's pod can be waited. Change: in place. @default true */
  readonly awaitsPodNetwork?: boolean;
  /** The configuration that the controller reads. Change: in place. */
  readonly cloudConfig: CloudConfig;
  /** What the driver on the nodes is told. Change: in place, its pods restart. @default nothing */
  readonly settings?: CloudSettings;
  /** Volumes that a node takes, where the settings do not say it. Change: in place, the driver's pods restart. @default no limit */
  readonly attachable?: number;
  /** Whether volumes are made in the zone of their pod. Change: in place, for new volumes. @default true */
  readonly topology?: boolean;
  /** Whether volumes can have snapshots. Change: in place. @default false */
  readonly snapshots?: boolean;
  /** Classes by name. Change: the class is replaced, its volumes are not touched. */
  readonly storageClasses: readonly StorageClassSettings[];
}

/** Volumes from Cinder. */
export class BlockStorage extends Addon {
  static readonly type = "stackadm:addons:BlockStorage";

  readonly controller: kubernetes.apps.v1.Deployment;
  readonly node: kubernetes.apps.v1.DaemonSet;
  readonly storageClasses: readonly kubernetes.storage.v1.StorageClass[];

  constructor(name: string, args: BlockStorageArgs, opts?: pulumi.ComponentResourceOptions) {
    super(BlockStorage.type, name, args, opts);
    const driver = this.object(kubernetes.storage.v1.CSIDriver, "driver", cinderCsiDriver());
    this.controller = this.#createController(args, driver);
    this.node = this.#createNode(args, driver);
    this.storageClasses = args.storageClasses.map((settings) =>
      this.object(
        kubernetes.storage.v1.StorageClass,
        `class-${settings.name}`,
        storageClass(settings),
        {
          // The API refuses to change these, and the provider replaces for no more than parameters.
          replaceOnChanges: ["reclaimPolicy", "volumeBindingMode", "allowedTopologies"],
          // Two objects cannot have one name.
          deleteBeforeReplace: true,
        },
      ),
    );
    this.registerOutputs({});
  }

  #createController(args: BlockStorageArgs, driver: pulumi.Resource) {
    const access = this.access(blockStorageAccess(args.snapshots));
    const snapshots = args.snapshots === true ? [this.#createSnapshots(args)] : [];
    return this.object(
      kubernetes.apps.v1.Deployment,
      "controller",
      blockStorageController({
        images: args.images,
        clusterName: pulumi.interpolate`--cluster=${args.nameInCloud}`,
        configChecksum: args.cloudConfig.checksum,
        awaited: args.awaitsPodNetwork ?? true,
        topology: args.topology,
        snapshots: args.snapshots,
      }),
      {
        // order: pods without their account are refused, without its rights, Secret and kinds they fail.
        dependsOn: [
          ...[...access, driver, args.cloudConfig.secret],
          ...snapshots.flatMap(({ kinds }) => kinds),
        ],
        // Its pod waits for the pod network.
        customTimeouts: { create: "5m", update: "5m" },
      },
    );
  }

  #createSnapshots({ images, ...args }: BlockStorageArgs): Snapshots {
    return this.make(Snapshots, "snapshots", {
      image: images.snapshotController,
      awaitsPodNetwork: args.awaitsPodNetwork,
      deletedWith: args.deletedWith,
    });
  }

  #createNode(args: BlockStorageArgs, driver: pulumi.Resource) {
    const account = this.object(
      kubernetes.core.v1.ServiceAccount,
      "node-account",
      blockStorageNodeAccount(),
    );
    const conf = renderNodeConf(args.settings ?? {}, args.attachable);
    const config =
      conf === undefined
        ? []
        : [this.object(kubernetes.core.v1.ConfigMap, "node-config", nodeConfig(conf))];
    const manifest = blockStorageNode({
      images: args.images,
      configChecksum: conf && checksum(conf),
      topology: args.topology,
    });
    return this.object(kubernetes.apps.v1.DaemonSet, "node", manifest, {
      // order: pods without their account are refused, and do not start without their configuration.
      dependsOn: [account, driver, ...config],
      customTimeouts: this.daemonSetTimeouts,
    });
  }
}
