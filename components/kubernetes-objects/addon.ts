import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Component } from "../pulumi/component.js";
import type { Taint } from "./pod-settings.js";
import type { RbacObjects } from "./rbac.js";

/**
 * Timeouts of a Service with a load balancer, because Octavia's amphorae may take minutes to boot.
 * The load balancers that the program creates have the same timeouts
 * (endpoint/load-balancer-options.ts).
 */
export const loadBalancerServiceTimeouts = { create: "15m", update: "15m", delete: "15m" };

/** Arguments of every add-on. */
export interface AddonArgs {
  /**
   * Taints of the control planes, in addition to the taint of kubeadm. Pods that run only on
   * control planes tolerate them. A change restarts these pods.
   * @default none
   */
  readonly controlPlaneTaints?: readonly Taint[] | undefined;
  /**
   * Resource whose deletion ends the cluster. Pulumi then does not delete Kubernetes objects that
   * own no object in OpenStack. Their deletion would need an API server, which may no longer exist.
   * @default Pulumi deletes each object
   */
  readonly deletedWith?: pulumi.Resource;
  /**
   * Number of nodes of the cluster. Each node adds one minute to the timeouts of DaemonSets. A
   * change alone updates no object.
   * @default 0
   */
  readonly nodes?: number | undefined;
}

type ObjectConstructor<Made, Args> = new (
  name: string,
  args: Args,
  opts?: pulumi.CustomResourceOptions,
) => Made;

/** Base class of components that consist of Kubernetes objects. */
export abstract class Addon extends Component {
  readonly #deletedWith?: pulumi.Resource;
  /**
   * Timeouts within which all pods of a DaemonSet must become ready. An update replaces one pod
   * after another, so the timeouts grow with the number of nodes.
   */
  protected readonly daemonSetTimeouts: { readonly create: string; readonly update: string };

  protected constructor(
    type: string,
    name: string,
    args: AddonArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(type, name, opts);
    this.#deletedWith = args.deletedWith;
    const minutes = `${(5 + (args.nodes ?? 0)).toString()}m`;
    this.daemonSetTimeouts = { create: minutes, update: minutes };
  }

  /** Creates a Kubernetes object that owns no object in OpenStack. */
  protected object<Made extends pulumi.Resource, Args>(
    constructor: ObjectConstructor<Made, Args>,
    role: string,
    args: Args,
    ...[opts]: [pulumi.CustomResourceOptions?]
  ): Made {
    return this.make(constructor, role, args, { ...opts, deletedWith: this.#deletedWith });
  }

  /**
   * Creates a service account with its RBAC objects, after `namespace`. Returns the resources that
   * must exist before the account's pods.
   */
  protected access(needs: RbacObjects, ...[namespace]: [pulumi.Resource?]): pulumi.Resource[] {
    const { serviceAccount, clusterRole, clusterRoleBinding, namespaced } = needs;
    const { v1: rbac } = kubernetes.rbac;
    return [
      // The namespace must exist before its objects.
      this.object(kubernetes.core.v1.ServiceAccount, "account", serviceAccount, {
        ...(namespace && { dependsOn: [namespace] }),
      }),
      this.object(rbac.ClusterRole, "cluster-role", clusterRole),
      this.object(rbac.ClusterRoleBinding, "cluster-role-binding", clusterRoleBinding),
      ...(namespaced === undefined
        ? []
        : [
            this.object(rbac.Role, "role", namespaced.role),
            this.object(rbac.RoleBinding, "role-binding", namespaced.roleBinding),
          ]),
    ];
  }
}
