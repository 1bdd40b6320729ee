import * as pulumi from "@pulumi/pulumi";
import { kubeconfigFor, validityOf } from "../identity/kubeconfig.js";
import { Component } from "../support/component.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { apiPort } from "../spec/traits/endpoint.js";
import type { ClusterFacts } from "./joining.js";

export interface ReadinessArgs {
  readonly clusterName: string;
  readonly endpoint: Pick<Endpoint, "outside">;
  readonly facts: ClusterFacts;
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
    const { endpoint, facts } = args;
    const reached = pulumi.interpolate`${endpoint.outside}:${apiPort}`;
    this.kubeconfig = pulumi.secret(
      pulumi
        .all([facts.adminConf, reached])
        .apply(([admin, address]) =>
          kubeconfigFor(admin, { cluster: args.clusterName, endpoint: address }),
        ),
    );
    // order: known only after the API answered, like the kubeconfig.
    this.apiEndpoint = pulumi.all([reached, facts.uid]).apply(([address]) => `https://${address}`);
    // Read in the state, where the kubeconfig itself is a secret (automation/cluster/certificate-end.ts).
    const validity = pulumi.unsecret(facts.adminConf.apply(validityOf));
    this.registerOutputs({ apiEndpoint: this.apiEndpoint, kubeconfigValidity: validity });
  }
}
