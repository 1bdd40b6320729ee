import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import { cloudControllerAccess, cloudControllerDaemonSet } from "./manifests/cloud-controller.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { CloudConfig } from "./cloud-config-secret.js";

/** Arguments of {@link CloudController}. */
export interface CloudControllerArgs extends AddonArgs {
  /** Image of the controller. Change: in place, one control plane after the other. */
  readonly image: string;
  /** Name of the cluster in every load balancer's name, unique in the project. Change: refused. */
  readonly nameInCloud: pulumi.Input<string>;
  /**
   * Range of the pods to whose nodes the controller keeps routes. Change: refused.
   * @default no routes
   */
  readonly routedPods?: string | undefined;
  /**
   * Whether the controller creates load balancers one by one. Change: in place, one control plane
   * after the other.
   * @default false
   */
  readonly serial?: boolean | undefined;
  /** Secret with the cloud.conf that the controller reads. Change: in place. */
  readonly cloudConfig: CloudConfig;
}

/**
 * Cloud controller: reads addresses and zones of nodes from Nova, and creates load balancers and
 * routes.
 */
export class CloudController extends Addon {
  static readonly type = "stackadm:addons:CloudController";

  /**
   * DaemonSet of the controller. Its creation ends when the controller has logged in to OpenStack.
   */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: CloudControllerArgs, opts?: pulumi.ComponentResourceOptions) {
    super(CloudController.type, name, args, opts);
    const access = this.access(cloudControllerAccess());
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      cloudControllerDaemonSet({
        image: args.image,
        clusterName: pulumi.interpolate`--cluster-name=${args.nameInCloud}`,
        routedPods: args.routedPods,
        serial: args.serial,
        configChecksum: args.cloudConfig.checksum,
      }),
      {
        // order: pods need their service account, its permissions and the Secret.
        dependsOn: [...access, args.cloudConfig.secret],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }
}
