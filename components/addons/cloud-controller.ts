import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import {
  buildCloudControllerRbac,
  buildCloudControllerDaemonSet,
} from "./manifests/cloud-controller.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { CloudConfigSecret } from "./cloud-config-secret.js";

/**
 * Arguments of {@link CloudController}. A changed argument updates the DaemonSet in place, unless
 * the comment of the argument says otherwise. The update restarts the pods one control plane after
 * the other.
 */
export interface CloudControllerArgs extends AddonArgs {
  /** Image of the controller. */
  readonly image: string;
  /**
   * Name of the cluster in the name of every load balancer, unique in the project. A change is
   * refused while the cluster exists.
   */
  readonly nameInCloud: pulumi.Input<string>;
  /**
   * CIDR of the pods, if the controller maintains a route to the pods of each node. A change is
   * refused while the cluster exists.
   * @default no routes
   */
  readonly routedPods?: string | undefined;
  /** Whether the controller creates load balancers one by one. @default false */
  readonly serial?: boolean | undefined;
  /** Secret with the cloud.conf that the controller reads. */
  readonly cloudConfig: CloudConfigSecret;
}

/**
 * Cloud controller: copies addresses and zones from the servers in Nova to the Node objects, and
 * creates load balancers and routes.
 */
export class CloudController extends Addon {
  static readonly type = "stackadm:addons:CloudController";

  /** DaemonSet of the controller. Pulumi waits until each pod has logged in to OpenStack. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: CloudControllerArgs, opts?: pulumi.ComponentResourceOptions) {
    super(CloudController.type, name, args, opts);
    const access = this.access(buildCloudControllerRbac());
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      buildCloudControllerDaemonSet({
        image: args.image,
        clusterName: pulumi.interpolate`--cluster-name=${args.nameInCloud}`,
        routedPods: args.routedPods,
        serial: args.serial,
        configChecksum: args.cloudConfig.checksum,
        controlPlaneTaints: args.controlPlaneTaints,
      }),
      {
        // The pods need their service account, permissions and Secret, so these are created first.
        dependsOn: [...access, args.cloudConfig.secret],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }
}
