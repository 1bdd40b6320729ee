import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import {
  snapshotClass,
  snapshotController,
  snapshotControllerAccess,
  snapshotKinds,
} from "./manifests/snapshots.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";

/** Arguments of {@link Snapshots}. */
export interface SnapshotsArgs extends AddonArgs {
  /** Image of the snapshot controller. Change: in place. */
  readonly image: string;
  /**
   * Whether to wait for the pod of the controller, which needs the pod network. Change: in place.
   * @default true
   */
  readonly awaitsPodNetwork?: boolean;
}

/** Snapshots of volumes: CRDs, controller and class. The CSI driver creates the snapshots. */
export class Snapshots extends Addon {
  static readonly type = "stackadm:addons:Snapshots";

  /** CRDs of snapshots. Programs that use snapshots must be created after the CRDs. */
  readonly kinds: readonly pulumi.Resource[];
  readonly controller: kubernetes.apps.v1.Deployment;

  constructor(name: string, args: SnapshotsArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Snapshots.type, name, args, opts);
    this.kinds = snapshotKinds().map(([plural, definition]) =>
      this.object(kubernetes.apiextensions.v1.CustomResourceDefinition, plural, definition),
    );
    const access = this.access(snapshotControllerAccess());
    this.controller = this.object(
      kubernetes.apps.v1.Deployment,
      "controller",
      snapshotController(args.image, args.awaitsPodNetwork),
      {
        // order: pods need their service account, and the controller exits without the CRDs.
        dependsOn: [...access, ...this.kinds],
        // The pod waits for the pod network, and until the cloud controller has initialized the
        // pod's node.
        customTimeouts: { create: "5m", update: "5m" },
      },
    );
    this.object(kubernetes.apiextensions.CustomResource, "class", snapshotClass(), {
      // order: objects need their CRD.
      dependsOn: [...this.kinds],
    });
    this.registerOutputs({});
  }
}
