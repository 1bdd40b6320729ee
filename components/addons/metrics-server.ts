import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import {
  buildMetricsApiService,
  buildMetricsReaderRole,
  buildMetricsServerDeployment,
  buildMetricsServerRbac,
  buildMetricsService,
  type MetricsServerSettings,
} from "./manifests/metrics-server.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";

/** Arguments of {@link MetricsServer}. A changed argument updates the objects in place. */
export interface MetricsServerArgs extends AddonArgs, MetricsServerSettings {}

/**
 * metrics-server, which serves the CPU and memory usage of nodes and pods in the Kubernetes API.
 */
export class MetricsServer extends Addon {
  static readonly type = "stackadm:addons:MetricsServer";

  readonly deployment: kubernetes.apps.v1.Deployment;

  constructor(name: string, args: MetricsServerArgs, opts?: pulumi.ComponentResourceOptions) {
    super(MetricsServer.type, name, args, opts);
    const { image, signedKubelets, awaited, controlPlaneTaints } = args;
    const access = this.access(buildMetricsServerRbac());
    this.object(kubernetes.rbac.v1.ClusterRole, "reader", buildMetricsReaderRole());
    this.deployment = this.object(
      kubernetes.apps.v1.Deployment,
      "deployment",
      buildMetricsServerDeployment({ image, signedKubelets, awaited, controlPlaneTaints }),
      {
        // The pods need their service account and permissions, so these are created first.
        dependsOn: [...access],
        // The pod starts only when the pod network works and the cloud controller has initialized
        // the pod's node.
        customTimeouts: { create: "5m", update: "5m" },
      },
    );
    this.object(kubernetes.core.v1.Service, "service", buildMetricsService(awaited), {
      // The Service is ready only when a pod answers, so the Deployment is created first.
      dependsOn: [this.deployment],
    });
    this.object(kubernetes.apiregistration.v1.APIService, "api", buildMetricsApiService(), {
      // An APIService without a server causes errors in kubectl and in garbage collection, so the
      // Deployment is created first.
      dependsOn: [this.deployment],
    });
    this.registerOutputs({});
  }
}
