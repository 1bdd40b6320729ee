import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../support/addon.js";
import { cloudControllerAccess, cloudControllerDaemonSet } from "./manifests/cloud-controller.js";
import type { AddonArgs } from "../support/addon.js";
import type { CloudConfig } from "./cloud-config.js";

/** Arguments of {@link CloudController}. */
export interface CloudControllerArgs extends AddonArgs {
  /** Image of the controller. Change: in place, one control plane after the other. */
  readonly image: string;
  /** Unique in the project; part of the name of every load balancer. Change: refused. */
  readonly nameInCloud: pulumi.Input<string>;
  /** Range of the pods to whose nodes it keeps routes. Change: refused. @default none: the pod network needs no routes */
  readonly routedPods?: string | undefined;
  /** Whether it makes one load balancer after another. Change: in place, one control plane after the other. @default false */
  readonly serial?: boolean | undefined;
  /** The configuration that it reads. Change: in place. */
  readonly cloudConfig: CloudConfig;
}

/** Names, addresses and zones of nodes from Nova, load balancers from Octavia, routes on a router of Neutron. */
export class CloudController extends Addon {
  static readonly type = "stackadm:addons:CloudController";

  /** Created means that it has logged in to the cloud. */
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
        // order: pods without their account are refused, without its rights and Secret they fail.
        dependsOn: [...access, args.cloudConfig.secret],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }
}
