import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Component } from "./component.js";
import type { Access } from "./manifests/access.js";

/** A Service's load balancer has as long as one of the program's own (endpoint/octavia.ts): amphorae may take minutes to boot. */
export const balancerTimeouts = { create: "15m", update: "15m", delete: "15m" };

/** What every add-on can be told. */
export interface AddonArgs {
  /**
   * Whatever ends the cluster when it is deleted. Objects that own nothing in the cloud then go
   * with it, without a call to an API server that may be gone. Change: in place.
   * @default each object is deleted
   */
  readonly deletedWith?: pulumi.Resource;
  /** How many nodes the cluster is to have: what runs on each has time for each. Change: none. @default 0: for none in particular */
  readonly nodes?: number | undefined;
}

type ObjectConstructor<Made, Args> = new (
  name: string,
  args: Args,
  opts?: pulumi.CustomResourceOptions,
) => Made;

/** A component made of Kubernetes objects. */
export abstract class Addon extends Component {
  readonly #deletedWith?: pulumi.Resource;
  /** How long a DaemonSet may take until all its pods are ready: an update replaces one after another. */
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

  /** An object that owns nothing in the cloud. */
  protected object<Made extends pulumi.Resource, Args>(
    constructor: ObjectConstructor<Made, Args>,
    role: string,
    args: Args,
    ...[opts]: [pulumi.CustomResourceOptions?]
  ): Made {
    return this.make(constructor, role, args, { ...opts, deletedWith: this.#deletedWith });
  }

  /** A service account, in a namespace that may have to be there first, with its rights: what its pods must wait for. */
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
