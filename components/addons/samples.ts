import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, loadBalancerServiceTimeouts } from "../kubernetes-objects/addon.js";
import {
  buildDataClaim,
  sampleClaimName,
  sampleHostName,
  samplesNamespace,
  buildSamplesNamespace,
  sampleWriterPodName,
  buildWebDeployment,
  buildWebIngress,
  buildWebService,
  buildWriterConfigMap,
  buildWriterStatefulSet,
} from "./manifests/samples.js";
import type { SampleServices } from "../config/load-balancing/sample-services.js";
import { joinLists, type ResourceList } from "../pulumi/resource-lists.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import type { LoadBalancerServiceSettings } from "./manifests/load-balanced-service.js";

/** Arguments of {@link Samples}. A changed argument updates the objects in place. */
export interface SamplesArgs extends AddonArgs {
  /** Image of agnhost, which both the web servers and the writer use. */
  readonly image: string;
  /** Settings of the Services. @default one Service has a floating IP, the other has none */
  readonly services?: SampleServices;
  /** Settings of both load balancers. @default none */
  readonly balancing?: LoadBalancerServiceSettings;
  /**
   * Resources that must exist before the cluster can serve the Ingress of the web server.
   * @default no Ingress
   */
  readonly ingress?: readonly pulumi.Resource[];
  /** Resources that are created before the load balancers, and deleted after them. */
  readonly balanced: ResourceList;
  /** Resources that are created before the volume, and deleted after it. */
  readonly stored: readonly pulumi.Resource[];
}

/**
 * Timeouts of objects with volumes. The timeouts are longer than the timeout of the Cinder CSI
 * controller, so that a failure of the controller is reported first.
 */
const volumeTimeouts = { create: "6m", update: "6m", delete: "5m" };

/** Samples: a web server with an external and an internal load balancer, and a volume with data. */
export class Samples extends Addon {
  static readonly type = "stackadm:addons:Samples";

  readonly namespace = samplesNamespace;
  readonly claim = sampleClaimName;
  /** Pod that writes a line to the volume, reads it back and logs it. */
  readonly writerPod = sampleWriterPodName;
  /** Host name of the web server's Ingress. Undefined without an ingress controller. */
  readonly host?: string;
  /** Floating IP of the external load balancer. Undefined without an external load balancer. */
  readonly externalAddress?: pulumi.Output<string>;
  /** Address of the internal load balancer, in the network of the nodes. */
  readonly internalAddress: pulumi.Output<string>;

  constructor(name: string, args: SamplesArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Samples.type, name, args, opts);
    const namespace = this.object(
      kubernetes.core.v1.Namespace,
      "namespace",
      buildSamplesNamespace(),
    );
    // The namespace must exist before its objects, and the cloud controller and machines before the
    // load balancers.
    const after = joinLists([namespace], args.balanced);
    this.#createWeb(args, after);
    const services = { ...args.services, ...args.balancing };
    if (services.external !== false)
      this.externalAddress = this.#createService("external", after, services);
    this.internalAddress = this.#createService("internal", after, services);
    if (args.ingress) {
      this.host = sampleHostName;
      this.#createIngress(args.ingress, namespace);
    }
    this.#createWriter(args, namespace);
    this.registerOutputs({
      externalAddress: this.externalAddress,
      internalAddress: this.internalAddress,
    });
  }

  #createWeb(args: SamplesArgs, after: Promise<pulumi.Resource[]>) {
    this.object(kubernetes.apps.v1.Deployment, "web", buildWebDeployment(args.image), {
      dependsOn: after,
      customTimeouts: { create: "3m", update: "3m" },
    });
  }

  #createService(
    reach: "external" | "internal",
    after: Promise<pulumi.Resource[]>,
    settings: Parameters<typeof buildWebService>[1],
  ) {
    const manifest = buildWebService(reach, settings);
    // This Service has no `deletedWith`, because the Service has a load balancer. A destroy must
    // therefore delete the Service itself.
    const service = this.make(kubernetes.core.v1.Service, `web-${reach}`, manifest, {
      // The Service does not wait for the pods, because Octavia creates the load balancer while the
      // pods start.
      dependsOn: after,
      customTimeouts: loadBalancerServiceTimeouts,
    });
    return service.status.loadBalancer.ingress.apply(([first]) => first?.ip ?? "");
  }

  #createIngress(serving: readonly pulumi.Resource[], namespace: pulumi.Resource) {
    this.object(kubernetes.networking.v1.Ingress, "web-ingress", buildWebIngress(), {
      // The namespace must exist before the Ingress. The Ingress is ready only when its status has
      // an address, so the ingress controller is created first.
      dependsOn: [namespace, ...serving],
      customTimeouts: { create: "5m", update: "5m" },
    });
  }

  #createWriter(args: SamplesArgs, namespace: pulumi.Resource) {
    const script = readFileSync(join(__dirname, "write-and-read-back.sh"), "utf8");
    const scripts = this.object(
      kubernetes.core.v1.ConfigMap,
      "scripts",
      buildWriterConfigMap(script),
      {
        // The namespace must exist before its objects.
        dependsOn: [namespace],
      },
    );
    // The claim and its pod have no `deletedWith`, because a destroy must delete the claim to
    // release its volume. While the pod uses the claim, the claim cannot be deleted.
    const claim = this.make(kubernetes.core.v1.PersistentVolumeClaim, "claim", buildDataClaim(), {
      // The claim is created after the Cinder CSI driver, and deleted before the teardown. The
      // teardown waits until the cluster has released the volume.
      dependsOn: [namespace, ...args.stored],
      customTimeouts: volumeTimeouts,
    });
    this.make(kubernetes.apps.v1.StatefulSet, "writer", buildWriterStatefulSet(args.image), {
      // The pod mounts the claim and the scripts, so the pod is created after them. The pod would
      // block the deletion of the claim, so the pod is deleted before the claim.
      dependsOn: [claim, scripts],
      customTimeouts: volumeTimeouts,
    });
  }
}
