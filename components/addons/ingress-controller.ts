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
  /** Address of the load balancer before its machines. Absent: the Service has one. */
  readonly address?: pulumi.Input<string>;
  /** What is said of its Service, where that has a load balancer. @default nothing */
  readonly balancing?: Balancing;
  /** What must work before it begins, and stay until its Service is gone. */
  readonly after: readonly pulumi.Resource[];
}

/** What answers for the Ingresses of the cluster. */
export class IngressController extends Addon {
  static readonly type = "stackadm:addons:IngressController";

  /** Where clients reach it. */
  readonly address: pulumi.Output<string>;
  /** What an Ingress needs to be served. */
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
      // order: pods without their account are refused, without its rights they fail; and they need machines.
      dependsOn: [namespace, ...access, ...after],
      // Its pods wait for the pod network and for workers.
      customTimeouts: { create: "5m", update: "5m" },
    });
    const { PodDisruptionBudget } = kubernetes.policy.v1;
    // order: objects need their namespace.
    this.object(PodDisruptionBudget, "budget", traefikBudget(), { dependsOn: [namespace] });
    const { IngressClass } = kubernetes.networking.v1;
    const ofTraefik = this.object(IngressClass, "class", ingressClass(spec));
    // May own a load balancer, so it is always deleted and never just goes with the cluster.
    const service = this.make(
      kubernetes.core.v1.Service,
      "service",
      traefikService(spec, awaited, balancing),
      {
        // order: objects need their namespace, and no load balancer is without what makes it. Not after its pods: the cloud makes
        // it while they start, and it is ready when both are.
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
