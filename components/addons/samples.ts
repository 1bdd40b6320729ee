import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon, balancerTimeouts } from "../support/addon.js";
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
import type { SampleServices } from "../spec/sample-services.js";
import type { AddonArgs } from "../support/addon.js";
import type { Balancing } from "./manifests/balanced.js";

/** Arguments of {@link Samples}. */
export interface SamplesArgs extends AddonArgs {
  /** Image of agnhost. Change: in place. */
  readonly image: string;
  /** How the services reach their clients. Change: in place. @default one has a floating IP, one has none */
  readonly services?: SampleServices;
  /** What is said of both. Change: in place. @default nothing */
  readonly balancing?: Balancing;
  /** What serves an Ingress for the web server. Change: in place. @default there is none */
  readonly ingress?: readonly pulumi.Resource[];
  /** What must work before a load balancer begins, and stay until it is gone. */
  readonly balanced: readonly pulumi.Resource[];
  /** What a volume begins after, and which stays until it is gone. */
  readonly stored: readonly pulumi.Resource[];
}

/** Longer than what makes volumes may take to come up, which then says by itself what is wrong. */
const volumeTimeouts = { create: "6m", update: "6m", delete: "5m" };

/** An external and an internal load balancer in front of a web server, and a volume with data. */
export class Samples extends Addon {
  static readonly type = "stackadm:addons:Samples";

  readonly namespace = samplesNamespace;
  readonly claim = sampleClaim;
  /** Pod whose log holds the line that was read back. */
  readonly writerPod = sampleWriterPod;
  /** Name by which the ingress controller knows the web server; absent where there is none. */
  readonly host?: string;
  /** Floating IP of the external load balancer; absent where there is none. */
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
    // order: objects need their namespace, and nothing of them begins without what serves them.
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
    // Owns a load balancer, so it is always deleted and never just goes with the cluster.
    const service = this.make(kubernetes.core.v1.Service, `web-${reach}`, manifest, {
      // Not after its pods: the cloud makes the load balancer while they start.
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
    const script = readFileSync(join(__dirname, "scripts", "write-and-read-back.sh"), "utf8");
    const scripts = this.object(kubernetes.core.v1.ConfigMap, "scripts", writerScript(script), {
      // order: objects need their namespace.
      dependsOn: [namespace],
    });
    // Owns a volume, and its pod keeps the claim from going: both are always deleted.
    const claim = this.make(kubernetes.core.v1.PersistentVolumeClaim, "claim", dataClaim(), {
      // order: no volume without what makes it, and the sweep at the end.
      dependsOn: [namespace, ...args.stored],
      customTimeouts: volumeTimeouts,
    });
    this.make(kubernetes.apps.v1.StatefulSet, "writer", writerStatefulSet(args.image), {
      // order: the pod mounts both; at the end it goes before the claim that it keeps in use.
      dependsOn: [claim, scripts],
      customTimeouts: volumeTimeouts,
    });
  }
}
