import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, balancerTimeouts } from "../kubernetes-objects/addon.js";
import {
  ingressClass,
  fixedIngressAddressFlag,
  publishedServiceFlag,
  traefikDeployment,
  traefikAccess,
  traefikBudget,
  traefikNamespaceObject,
  traefikService,
  type TraefikSettings,
} from "./manifests/traefik.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { LoadBalancerServiceSettings } from "./manifests/load-balanced-service.js";

/** Arguments of {@link IngressController}. Every argument can change in place. */
export interface IngressControllerArgs extends AddonArgs, Omit<TraefikSettings, "shown"> {
  /**
   * Address of the load balancer that the program creates for `kind: workers`.
   * @default the address of the Service's load balancer
   */
  readonly address?: pulumi.Input<string>;
  /** Settings of the Service, if the Service has a load balancer. @default none */
  readonly balancing?: LoadBalancerServiceSettings;
  /**
   * Resources that must work before the ingress controller is created, and exist until its Service
   * is deleted.
   */
  readonly after: readonly pulumi.Resource[];
}

/** Ingress controller of the cluster: Traefik. */
export class IngressController extends Addon {
  static readonly type = "stackadm:addons:IngressController";

  /** Address of the load balancer for clients. */
  readonly address: pulumi.Output<string>;
  /** Resources that must exist before an Ingress is served. */
  readonly parts: readonly pulumi.Resource[];

  constructor(name: string, args: IngressControllerArgs, opts?: pulumi.ComponentResourceOptions) {
    super(IngressController.type, name, args, opts);
    const { address, after, spec, awaited, balancing } = args;
    const namespace = this.object(
      kubernetes.core.v1.Namespace,
      "namespace",
      traefikNamespaceObject(),
    );
    const access = this.access(traefikAccess(), namespace);
    const shown =
      address === undefined
        ? publishedServiceFlag
        : pulumi.interpolate`${fixedIngressAddressFlag}${address}`;
    this.object(
      kubernetes.apps.v1.Deployment,
      "deployment",
      traefikDeployment({ ...args, shown }),
      {
        // order: pods need their namespace, service account, permissions, and machines.
        dependsOn: [namespace, ...access, ...after],
        // The pods wait for the pod network and for workers.
        customTimeouts: { create: "5m", update: "5m" },
      },
    );
    const { PodDisruptionBudget } = kubernetes.policy.v1;
    // order: objects need their namespace.
    this.object(PodDisruptionBudget, "budget", traefikBudget(), { dependsOn: [namespace] });
    const { IngressClass } = kubernetes.networking.v1;
    const ofTraefik = this.object(IngressClass, "class", ingressClass(spec));
    // Without `deletedWith`: the Service may have a load balancer, so a destroy must delete the
    // Service itself.
    const service = this.make(
      kubernetes.core.v1.Service,
      "service",
      traefikService(spec, awaited, balancing),
      {
        // order: objects need their namespace, and load balancers need the cloud controller. The
        // Service does not wait for the pods: Octavia creates the load balancer while the pods
        // start.
        dependsOn: [namespace, ...after],
        customTimeouts: balancerTimeouts,
      },
    );
    this.address = pulumi.output(
      address ?? service.status.loadBalancer.ingress.apply(([first]) => first?.ip ?? ""),
    );
    this.parts = [service, ofTraefik];
    this.registerOutputs({ address: this.address });
  }
}
