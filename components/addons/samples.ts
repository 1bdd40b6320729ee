import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, balancerTimeouts } from "../kubernetes-objects/addon.js";
import {
  dataClaim,
  sampleClaim,
  sampleHost,
  samplesNamespace,
  samplesNamespaceObject,
  sampleWriterPod,
  webDeployment,
  webIngress,
  webService,
  writerScript,
  writerStatefulSet,
} from "./manifests/samples.js";
import type { SampleServices } from "../config/load-balancing/sample-services.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { LoadBalancerServiceSettings } from "./manifests/load-balanced-service.js";

/** Arguments of {@link Samples}. */
export interface SamplesArgs extends AddonArgs {
  /** Image of agnhost. Change: in place. */
  readonly image: string;
  /**
   * Settings of the Services. Change: in place.
   * @default one Service has a floating IP, one has none
   */
  readonly services?: SampleServices;
  /** Settings of both load balancers. Change: in place. @default none */
  readonly balancing?: LoadBalancerServiceSettings;
  /** Resources that serve an Ingress for the web server. Change: in place. @default no Ingress */
  readonly ingress?: readonly pulumi.Resource[];
  /**
   * Resources that must work before a load balancer is created, and exist until the load balancer
   * is deleted.
   */
  readonly balanced: readonly pulumi.Resource[];
  /** Resources that must work before a volume is created, and exist until the volume is deleted. */
  readonly stored: readonly pulumi.Resource[];
}

/**
 * Timeouts of objects with volumes. They are longer than the timeout of the storage controller, so
 * that the storage controller reports a failure first.
 */
const volumeTimeouts = { create: "6m", update: "6m", delete: "5m" };

/** Samples: an external and an internal load balancer for a web server, and a volume with data. */
export class Samples extends Addon {
  static readonly type = "stackadm:addons:Samples";

  readonly namespace = samplesNamespace;
  readonly claim = sampleClaim;
  /** Pod whose log shows the line that the pod wrote to the volume and read back. */
  readonly writerPod = sampleWriterPod;
  /** Host name of the web server's Ingress; absent without an ingress controller. */
  readonly host?: string;
  /** Floating IP of the external load balancer; absent without one. */
  readonly externalAddress?: pulumi.Output<string>;
  /** Address of the internal load balancer in the network of the nodes. */
  readonly internalAddress: pulumi.Output<string>;

  constructor(name: string, args: SamplesArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Samples.type, name, args, opts);
    const namespace = this.object(
      kubernetes.core.v1.Namespace,
      "namespace",
      samplesNamespaceObject(),
    );
    // order: objects need their namespace, and load balancers their controller and machines.
    const after = [namespace, ...args.balanced];
    this.#createWeb(args, after);
    const services = { ...args.services, ...args.balancing };
    if (services.external !== false)
      this.externalAddress = this.#createService("external", after, services);
    this.internalAddress = this.#createService("internal", after, services);
    if (args.ingress) {
      this.host = sampleHost;
      this.#createIngress(args.ingress, namespace);
    }
    this.#createWriter(args, namespace);
    this.registerOutputs({
      externalAddress: this.externalAddress,
      internalAddress: this.internalAddress,
    });
  }

  #createWeb(args: SamplesArgs, after: pulumi.Resource[]) {
    this.object(kubernetes.apps.v1.Deployment, "web", webDeployment(args.image), {
      dependsOn: after,
      customTimeouts: { create: "3m", update: "3m" },
    });
  }

  #createService(
    reach: "external" | "internal",
    after: pulumi.Resource[],
    settings: Parameters<typeof webService>[1],
  ) {
    const manifest = webService(reach, settings);
    // Without `deletedWith`: the Service has a load balancer, so a destroy must delete the Service
    // itself.
    const service = this.make(kubernetes.core.v1.Service, `web-${reach}`, manifest, {
      // The Service does not wait for the pods: Octavia creates the load balancer while the pods
      // start.
      dependsOn: after,
      customTimeouts: balancerTimeouts,
    });
    return service.status.loadBalancer.ingress.apply(([first]) => first?.ip ?? "");
  }

  #createIngress(serving: readonly pulumi.Resource[], namespace: pulumi.Resource) {
    this.object(kubernetes.networking.v1.Ingress, "web-ingress", webIngress(), {
      // order: objects need their namespace, and an Ingress is ready when it shows an address.
      dependsOn: [namespace, ...serving],
      customTimeouts: { create: "5m", update: "5m" },
    });
  }

  #createWriter(args: SamplesArgs, namespace: pulumi.Resource) {
    const script = readFileSync(join(__dirname, "write-and-read-back.sh"), "utf8");
    const scripts = this.object(kubernetes.core.v1.ConfigMap, "scripts", writerScript(script), {
      // order: objects need their namespace.
      dependsOn: [namespace],
    });
    // Without `deletedWith`: the claim has a volume, and the pod that uses the claim blocks the
    // deletion of the claim. So a destroy must delete claim and pod.
    const claim = this.make(kubernetes.core.v1.PersistentVolumeClaim, "claim", dataClaim(), {
      // order: a volume needs the storage driver to be created, and the teardown to be released.
      dependsOn: [namespace, ...args.stored],
      customTimeouts: volumeTimeouts,
    });
    this.make(kubernetes.apps.v1.StatefulSet, "writer", writerStatefulSet(args.image), {
      // order: the pod mounts claim and scripts, and is deleted before the claim.
      dependsOn: [claim, scripts],
      customTimeouts: volumeTimeouts,
    });
  }
}
