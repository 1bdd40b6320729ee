import * as pulumi from "@pulumi/pulumi";
import { kubeconfigFor } from "../identity/kubeconfig.js";
import { Component } from "../support/component.js";
import type { ControlPlane } from "./control-plane.js";
import { apiPort } from "./documents.js";

export interface ReadinessArgs {
  readonly clusterName: string;
  readonly controlPlane: ControlPlane;
}

/** The gate between machines and workloads: what it publishes is known only when the API answers. */
export class Readiness extends Component {
  static readonly type = "stackadm:kubeadm:Readiness";
  /** The administrator's kubeconfig for use from outside; secret. */
  readonly kubeconfig: pulumi.Output<string>;
  /** `https://203.0.113.7:6443` */
  readonly apiEndpoint: pulumi.Output<string>;

  constructor(name: string, args: ReadinessArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Readiness.type, name, opts);
    const { endpoint, facts } = args.controlPlane;
    const reached = pulumi.interpolate`${endpoint.address}:${apiPort}`;
    this.kubeconfig = pulumi.secret(
      pulumi
        .all([facts.adminConf, reached])
        .apply(([admin, address]) =>
          kubeconfigFor(admin, { cluster: args.clusterName, endpoint: address }),
        ),
    );
    // order: known only after the API answered, like the kubeconfig.
    this.apiEndpoint = pulumi.all([reached, facts.uid]).apply(([address]) => `https://${address}`);
    this.registerOutputs({ apiEndpoint: this.apiEndpoint });
  }
}
