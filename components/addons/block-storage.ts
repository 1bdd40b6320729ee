import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { computeChecksum } from "../pulumi/checksum.js";
import { Addon } from "../kubernetes-objects/addon.js";
import { renderNodeConf, type CloudConfSettings } from "./cloud-conf.js";
import { buildBlockStorageRbac, buildBlockStorageController } from "./manifests/block-storage.js";
import {
  buildNodeDriverDaemonSet,
  buildNodeDriverAccount,
  buildNodeDriverConfigMap,
} from "./manifests/block-storage-node.js";
import { Snapshots } from "./snapshots.js";
import { buildCinderCsiDriver, buildStorageClass } from "./manifests/storage-class.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { CloudConfigSecret } from "./cloud-config-secret.js";
import type { ImageTable } from "../../base/versions/container-images.js";
import type { StorageClassSettings } from "./manifests/storage-class.js";

/**
 * Arguments of {@link BlockStorage}. A changed argument updates the objects in place, unless the
 * comment of the argument says otherwise.
 */
export interface BlockStorageArgs extends AddonArgs {
  /** Images of the driver and its sidecars. */
  readonly images: ImageTable;
  /**
   * Name of the cluster in the metadata of every volume, unique in the project. A change is refused
   * while the cluster exists.
   */
  readonly nameInCloud: pulumi.Input<string>;
  /**
   * Whether Pulumi waits until the controller's pod is ready. The pod needs the pod network.
   * @default true
   */
  readonly awaitsPodNetwork?: boolean;
  /** Secret with the cloud.conf that the controller reads. */
  readonly cloudConfig: CloudConfigSecret;
  /**
   * Settings of the user for cloud.conf. The driver on nodes uses only some of these settings. A
   * change restarts the driver's pods.
   * @default none
   */
  readonly settings?: CloudConfSettings;
  /**
   * Maximum number of volumes per node, used if `settings` contains no such number. A change
   * restarts the driver's pods.
   * @default the driver's own default
   */
  readonly attachable?: number;
  /**
   * Whether a volume is created in the zone of its pod. A change affects only new volumes.
   * @default true
   */
  readonly topology?: boolean;
  /** Whether volumes can have snapshots. @default false */
  readonly snapshots?: boolean;
  /** Storage classes. A change may replace the StorageClass object. Existing volumes are kept. */
  readonly storageClasses: readonly StorageClassSettings[];
}

/** Cinder CSI: CSIDriver object, controller, driver on nodes, and storage classes. */
export class BlockStorage extends Addon {
  static readonly type = "stackadm:addons:BlockStorage";

  readonly controller: kubernetes.apps.v1.Deployment;
  readonly node: kubernetes.apps.v1.DaemonSet;
  readonly storageClasses: readonly kubernetes.storage.v1.StorageClass[];

  constructor(name: string, args: BlockStorageArgs, opts?: pulumi.ComponentResourceOptions) {
    super(BlockStorage.type, name, args, opts);
    const driver = this.object(kubernetes.storage.v1.CSIDriver, "driver", buildCinderCsiDriver());
    this.controller = this.#createController(args, driver);
    this.node = this.#createNode(args, driver);
    this.storageClasses = args.storageClasses.map((settings) =>
      this.object(
        kubernetes.storage.v1.StorageClass,
        `class-${settings.name}`,
        buildStorageClass(settings),
        {
          // The API server refuses changes of these fields, so the provider must replace the
          // object. By default, the provider replaces a StorageClass only if `parameters` change.
          replaceOnChanges: ["reclaimPolicy", "volumeBindingMode", "allowedTopologies"],
          // The old and the new object have the same name, so they cannot exist together.
          deleteBeforeReplace: true,
        },
      ),
    );
    this.registerOutputs({});
  }

  #createController(args: BlockStorageArgs, driver: pulumi.Resource) {
    const access = this.access(buildBlockStorageRbac(args.snapshots));
    const snapshots = args.snapshots === true ? [this.#createSnapshots(args)] : [];
    return this.object(
      kubernetes.apps.v1.Deployment,
      "controller",
      buildBlockStorageController({
        images: args.images,
        clusterName: pulumi.interpolate`--cluster=${args.nameInCloud}`,
        configChecksum: args.cloudConfig.checksum,
        awaited: args.awaitsPodNetwork ?? true,
        topology: args.topology,
        snapshots: args.snapshots,
        controlPlaneTaints: args.controlPlaneTaints,
      }),
      {
        // The pods need their service account, permissions, Secret and CRDs, so these are created
        // first.
        dependsOn: [
          ...[...access, driver, args.cloudConfig.secret],
          ...snapshots.flatMap(({ kinds }) => kinds),
        ],
        // The controller's pod starts only when the pod network works.
        customTimeouts: { create: "5m", update: "5m" },
      },
    );
  }

  #createSnapshots({ images, ...args }: BlockStorageArgs): Snapshots {
    return this.make(Snapshots, "snapshots", {
      image: images.snapshotController,
      awaitsPodNetwork: args.awaitsPodNetwork,
      deletedWith: args.deletedWith,
      controlPlaneTaints: args.controlPlaneTaints,
    });
  }

  #createNode(args: BlockStorageArgs, driver: pulumi.Resource) {
    const account = this.object(
      kubernetes.core.v1.ServiceAccount,
      "node-account",
      buildNodeDriverAccount(),
    );
    const conf = renderNodeConf(args.settings ?? {}, args.attachable);
    const config =
      conf === undefined
        ? []
        : [
            this.object(
              kubernetes.core.v1.ConfigMap,
              "node-config",
              buildNodeDriverConfigMap(conf),
            ),
          ];
    const manifest = buildNodeDriverDaemonSet({
      images: args.images,
      configChecksum: conf && computeChecksum(conf),
      topology: args.topology,
    });
    return this.object(kubernetes.apps.v1.DaemonSet, "node", manifest, {
      // The pods need their service account and configuration, so these are created first.
      dependsOn: [account, driver, ...config],
      customTimeouts: this.daemonSetTimeouts,
    });
  }
}
