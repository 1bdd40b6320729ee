import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { checksum } from "../pulumi/checksum.js";
import { Addon } from "../kubernetes-objects/addon.js";
import { renderNodeConf, type CloudSettings } from "./cloud-conf.js";
import { blockStorageAccess, blockStorageController } from "./manifests/block-storage.js";
import {
  blockStorageNode,
  blockStorageNodeAccount,
  nodeConfig,
} from "./manifests/block-storage-node.js";
import { Snapshots } from "./snapshots.js";
import { cinderCsiDriverObject, storageClass } from "./manifests/storage-class.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { CloudConfig } from "./cloud-config-secret.js";
import type { ImageTable } from "../../base/versions/container-images.js";
import type { StorageClassSettings } from "./manifests/storage-class.js";

/** Arguments of {@link BlockStorage}. */
export interface BlockStorageArgs extends AddonArgs {
  /** Images of driver and sidecars. Change: in place. */
  readonly images: ImageTable;
  /** Name of the cluster on every volume, unique in the project. Change: refused. */
  readonly nameInCloud: pulumi.Input<string>;
  /**
   * Whether to wait for the pod of the controller, which needs the pod network. Change: in place.
   * @default true
   */
  readonly awaitsPodNetwork?: boolean;
  /** Secret with the cloud.conf that the controller reads. Change: in place. */
  readonly cloudConfig: CloudConfig;
  /** Settings of the driver on nodes. Change: in place, the driver's pods restart. @default none */
  readonly settings?: CloudSettings;
  /**
   * Maximum number of volumes per node, if `settings` have none. Change: in place, the driver's
   * pods restart.
   * @default the default of the driver
   */
  readonly attachable?: number;
  /**
   * Whether a volume is created in the zone of its pod. Change: in place, for new volumes.
   * @default true
   */
  readonly topology?: boolean;
  /** Whether volumes can have snapshots. Change: in place. @default false */
  readonly snapshots?: boolean;
  /** Storage classes. Change: the StorageClass is replaced, its volumes are kept. */
  readonly storageClasses: readonly StorageClassSettings[];
}

/** Volumes from Cinder: CSIDriver object, controller, driver on nodes, and storage classes. */
export class BlockStorage extends Addon {
  static readonly type = "stackadm:addons:BlockStorage";

  readonly controller: kubernetes.apps.v1.Deployment;
  readonly node: kubernetes.apps.v1.DaemonSet;
  readonly storageClasses: readonly kubernetes.storage.v1.StorageClass[];

  constructor(name: string, args: BlockStorageArgs, opts?: pulumi.ComponentResourceOptions) {
    super(BlockStorage.type, name, args, opts);
    const driver = this.object(kubernetes.storage.v1.CSIDriver, "driver", cinderCsiDriverObject());
    this.controller = this.#createController(args, driver);
    this.node = this.#createNode(args, driver);
    this.storageClasses = args.storageClasses.map((settings) =>
      this.object(
        kubernetes.storage.v1.StorageClass,
        `class-${settings.name}`,
        storageClass(settings),
        {
          // The API refuses to change these fields. By default, the provider replaces a
          // StorageClass only if `parameters` change.
          replaceOnChanges: ["reclaimPolicy", "volumeBindingMode", "allowedTopologies"],
          // Two objects cannot have the same name.
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
        // order: pods need their service account, its permissions, the Secret and the CRDs.
        dependsOn: [
          ...[...access, driver, args.cloudConfig.secret],
          ...snapshots.flatMap(({ kinds }) => kinds),
        ],
        // The controller's pod waits for the pod network.
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
      // order: pods need their service account and configuration.
      dependsOn: [account, driver, ...config],
      customTimeouts: this.daemonSetTimeouts,
    });
  }
}
