import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Component } from "./component.js";
import type { Access } from "./manifests/access.js";

/**
 * Timeouts of a Service's load balancer, as long as those of the program's own
 * (endpoint/octavia.ts): amphorae may take minutes to boot.
 */
export const balancerTimeouts = { create: "15m", update: "15m", delete: "15m" };

/** Arguments of every add-on. */
export interface AddonArgs {
  /**
   * Resource whose deletion ends the cluster. Objects that own nothing in the cloud are then not
   * deleted one by one, which would need an API server that may be gone. Change: in place.
   * @default each object is deleted
   */
  readonly deletedWith?: pulumi.Resource;
  /**
   * Number of nodes of the cluster: extends the timeouts of DaemonSets. Change: none. @default 0
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
   * Timeouts until all pods of a DaemonSet are ready. They grow with the number of nodes, because
   * an update replaces one pod after another.
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

  /** Creates an object that owns nothing in the cloud. */
  protected object<Made extends pulumi.Resource, Args>(
    constructor: ObjectConstructor<Made, Args>,
    role: string,
    args: Args,
    ...[opts]: [pulumi.CustomResourceOptions?]
  ): Made {
    return this.make(constructor, role, args, { ...opts, deletedWith: this.#deletedWith });
  }

  /**
   * Creates a service account with its rights and returns the resources, for which its pods must
   * wait. `namespace` is created before the account.
   */
  protected access(needs: Access, ...[namespace]: [pulumi.Resource?]): pulumi.Resource[] {
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
