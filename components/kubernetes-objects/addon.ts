import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Component } from "../pulumi/component.js";
import type { RbacObjects } from "./rbac.js";

/**
 * Timeouts of a Service whose load balancer Octavia creates: amphorae may take minutes to boot. The
 * same as for the load balancers that the program creates (endpoint/load-balancer-options.ts).
 */
export const balancerTimeouts = { create: "15m", update: "15m", delete: "15m" };

/** Arguments of every add-on. */
export interface AddonArgs {
  /**
   * Resource whose deletion ends the cluster. Pulumi then does not delete Kubernetes objects that
   * own no object in OpenStack, which would need an API server that may not exist any more. Change:
   * in place. @default Pulumi deletes each object
   */
  readonly deletedWith?: pulumi.Resource;
  /**
   * Number of nodes of the cluster, with which the timeouts of DaemonSets grow. Change: none.
   * @default 0
   */
  readonly nodes?: number | undefined;
}

type ObjectConstructor<Made, Args> = new (
  name: string,
  args: Args,
  opts?: pulumi.CustomResourceOptions,
) => Made;

/** Component made of Kubernetes objects. */
export abstract class Addon extends Component {
  readonly #deletedWith?: pulumi.Resource;
  /**
   * Timeouts for a DaemonSet, until all pods are ready. An update replaces one pod after another,
   * so the timeouts grow with the number of nodes.
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
   * Creates a service account with its RBAC objects. Returns the resources for which pods with this
   * account must wait. The account waits for `namespace`.
   */
  protected access(needs: RbacObjects, ...[namespace]: [pulumi.Resource?]): pulumi.Resource[] {
    const { serviceAccount, clusterRole, clusterRoleBinding, namespaced } = needs;
    const { v1: rbac } = kubernetes.rbac;
    return [
      // order: objects need their namespace.
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
