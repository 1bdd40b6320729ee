import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import {
  buildSnapshotClass,
  buildSnapshotController,
  buildSnapshotControllerRbac,
  buildSnapshotCrds,
} from "./manifests/snapshots.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";

/** Arguments of {@link Snapshots}. A changed argument updates the objects in place. */
export interface SnapshotsArgs extends AddonArgs {
  /** Image of the snapshot controller. */
  readonly image: string;
  /**
   * Whether Pulumi waits until the controller's pod is ready. The pod needs the pod network.
   * @default true
   */
  readonly awaitsPodNetwork?: boolean;
}

/** Volume snapshots: CRDs, controller and class. The Cinder CSI driver creates the snapshots. */
export class Snapshots extends Addon {
  static readonly type = "stackadm:addons:Snapshots";

  /** CRDs of snapshots. Resources that use snapshots must be created after these CRDs. */
  readonly kinds: readonly pulumi.Resource[];
  readonly controller: kubernetes.apps.v1.Deployment;

  constructor(name: string, args: SnapshotsArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Snapshots.type, name, args, opts);
    this.kinds = buildSnapshotCrds().map(([plural, definition]) =>
      this.object(kubernetes.apiextensions.v1.CustomResourceDefinition, plural, definition),
    );
    const access = this.access(buildSnapshotControllerRbac());
    this.controller = this.object(
      kubernetes.apps.v1.Deployment,
      "controller",
      buildSnapshotController(args.image, args.awaitsPodNetwork, args.controlPlaneTaints),
      {
        // The pods need their service account, and exit without the CRDs. The account and the CRDs
        // are therefore created first.
        dependsOn: [...access, ...this.kinds],
        // The pod starts only when the pod network works and the cloud controller has initialized
        // the pod's node.
        customTimeouts: { create: "5m", update: "5m" },
      },
    );
    this.object(kubernetes.apiextensions.CustomResource, "class", buildSnapshotClass(), {
      // The CRD must exist before an object of its kind.
      dependsOn: [...this.kinds],
    });
    this.registerOutputs({});
  }
}
