import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, loadBalancerServiceTimeouts } from "../kubernetes-objects/addon.js";
import {
  buildIngressClass,
  fixedIngressAddressFlag,
  publishedServiceFlag,
  buildTraefikDeployment,
  buildTraefikRbac,
  buildTraefikDisruptionBudget,
  buildTraefikNamespace,
  buildTraefikService,
  type TraefikSettings,
} from "./manifests/traefik.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { LoadBalancerServiceSettings } from "./manifests/load-balanced-service.js";
import { joinLists, type ResourceList } from "../pulumi/resource-lists.js";

/** Arguments of {@link IngressController}. A changed argument updates the objects in place. */
export interface IngressControllerArgs extends AddonArgs, Omit<TraefikSettings, "shown"> {
  /**
   * Address of the load balancer that the program creates for `kind: workers`.
   * @default the address of the Service's load balancer
   */
  readonly address?: pulumi.Input<string>;
  /**
   * Settings for the load balancer of the Service, used with `kind: service`.
   * @default none
   */
  readonly balancing?: LoadBalancerServiceSettings;
  /** Resources that are created before the ingress controller, and deleted after its Service. */
  readonly after: ResourceList;
}

/** Traefik as the ingress controller of the cluster. */
export class IngressController extends Addon {
  static readonly type = "stackadm:addons:IngressController";

  /** Address at which clients reach the ingress controller. */
  readonly address: pulumi.Output<string>;
  /** Resources that must exist before the cluster can serve an Ingress. */
  readonly parts: readonly pulumi.Resource[];

  constructor(name: string, args: IngressControllerArgs, opts?: pulumi.ComponentResourceOptions) {
    super(IngressController.type, name, args, opts);
    const { address, after, spec, awaited, balancing } = args;
    const namespace = this.object(
      kubernetes.core.v1.Namespace,
      "namespace",
      buildTraefikNamespace(),
    );
    const access = this.access(buildTraefikRbac(), namespace);
    const shown =
      address === undefined
        ? publishedServiceFlag
        : pulumi.interpolate`${fixedIngressAddressFlag}${address}`;
    this.object(
      kubernetes.apps.v1.Deployment,
      "deployment",
      buildTraefikDeployment({ ...args, shown }),
      {
        // The pods need their namespace, service account and permissions, and machines to run on,
        // so these are created first.
        dependsOn: joinLists([namespace, ...access], after),
        // The pods start only when the pod network works and a worker is ready.
        customTimeouts: { create: "5m", update: "5m" },
      },
    );
    const { PodDisruptionBudget } = kubernetes.policy.v1;
    // The namespace must exist before its objects.
    this.object(PodDisruptionBudget, "budget", buildTraefikDisruptionBudget(), {
      dependsOn: [namespace],
    });
    const { IngressClass } = kubernetes.networking.v1;
    const ofTraefik = this.object(IngressClass, "class", buildIngressClass(spec));
    // This Service has no `deletedWith`, because the Service may have a load balancer. A destroy
    // must therefore delete the Service itself.
    const service = this.make(
      kubernetes.core.v1.Service,
      "service",
      buildTraefikService(spec, awaited, balancing),
      {
        // The namespace must exist before the Service, and the cloud controller before the load
        // balancer. The Service does not wait for the pods, because Octavia creates the load
        // balancer while the pods start.
        dependsOn: joinLists([namespace], after),
        customTimeouts: loadBalancerServiceTimeouts,
      },
    );
    this.address = pulumi.output(
      address ?? service.status.loadBalancer.ingress.apply(([first]) => first?.ip ?? ""),
    );
    this.parts = [service, ofTraefik];
    this.registerOutputs({ address: this.address });
  }
}
