import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, balancerTimeouts } from "../support/addon.js";
import {
  ingressClass,
  ofAddress,
  ofService,
  traefik,
  traefikAccess,
  traefikBudget,
  traefikNamespaceObject,
  traefikService,
  type TraefikSettings,
} from "./manifests/traefik.js";
import type { AddonArgs } from "../support/addon.js";
import type { Balancing } from "./manifests/balanced.js";

/** Arguments of {@link IngressController}. Change: in place. */
export interface IngressControllerArgs extends AddonArgs, Omit<TraefikSettings, "shown"> {
  /** Address of the load balancer in front of its machines. @default that of the Service */
  readonly address?: pulumi.Input<string>;
  /** Settings of its Service, if that has a load balancer. @default none */
  readonly balancing?: Balancing;
  /** Resources that must work before it is created, and exist until its Service is deleted. */
  readonly after: readonly pulumi.Resource[];
}

/** Ingress controller of the cluster: Traefik. */
export class IngressController extends Addon {
  static readonly type = "stackadm:addons:IngressController";

  /** Address for clients. */
  readonly address: pulumi.Output<string>;
  /** Resources that an Ingress needs to be served. */
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
    const shown = address === undefined ? ofService : pulumi.interpolate`${ofAddress}${address}`;
    this.object(kubernetes.apps.v1.Deployment, "deployment", traefik({ ...args, shown }), {
      // order: pods need their namespace, service account, its rights, and machines.
      dependsOn: [namespace, ...access, ...after],
      // Its pods wait for the pod network and for workers.
      customTimeouts: { create: "5m", update: "5m" },
    });
    const { PodDisruptionBudget } = kubernetes.policy.v1;
    // order: objects need their namespace.
    this.object(PodDisruptionBudget, "budget", traefikBudget(), { dependsOn: [namespace] });
    const { IngressClass } = kubernetes.networking.v1;
    const ofTraefik = this.object(IngressClass, "class", ingressClass(spec));
    // It may own a load balancer, so it is always deleted itself, never only with the cluster.
    const service = this.make(
      kubernetes.core.v1.Service,
      "service",
      traefikService(spec, awaited, balancing),
      {
        // order: objects need their namespace, and load balancers their controller. Not after the
        // pods: the cloud creates the load balancer while they start.
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
