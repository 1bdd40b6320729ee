import * as pulumi from "@pulumi/pulumi";
import { apiPort } from "../../base/ports.js";
import { renderKubeconfig, parseClientCertificateValidity } from "../identity/kubeconfig.js";
import { Component } from "../pulumi/component.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { KubeadmInitResult } from "./kubeadm-init-result.js";

export interface ApiReadinessArgs {
  readonly clusterName: string;
  readonly endpoint: Pick<Endpoint, "externalHost">;
  readonly facts: KubeadmInitResult;
  /** Value of {@link readKubeconfigRenewal} in this run. */
  readonly renewal: pulumi.Output<string>;
}

/**
 * Step between the machines and the workloads. Resources that use its outputs are created after the
 * API has answered.
 */
export class ApiReadiness extends Component {
  static readonly type = "stackadm:kubeadm:Readiness";
  /** Kubeconfig of the administrator, for clients outside the cluster's network. Secret. */
  readonly kubeconfig: pulumi.Output<string>;
  /** URL of the API for clients outside the cluster's network: `https://203.0.113.7:6443`. */
  readonly apiEndpoint: pulumi.Output<string>;

  constructor(name: string, args: ApiReadinessArgs, opts?: pulumi.ComponentResourceOptions) {
    super(ApiReadiness.type, name, opts);
    const { endpoint, facts } = args;
    const reached = pulumi.interpolate`${endpoint.externalHost}:${apiPort}`;
    this.kubeconfig = pulumi.secret(
      pulumi
        .all([facts.adminConf, reached])
        .apply(([admin, address]) =>
          renderKubeconfig(admin, { cluster: args.clusterName, endpoint: address }),
        ),
    );
    // order: the URL becomes known after the API has answered, like the kubeconfig.
    this.apiEndpoint = pulumi.all([reached, facts.uid]).apply(([address]) => `https://${address}`);
    // The next run reads validity and renewal in the state. They are not secret, so that the state
    // shows them.
    this.registerOutputs({
      apiEndpoint: this.apiEndpoint,
      kubeconfigValidity: pulumi.unsecret(facts.adminConf.apply(parseClientCertificateValidity)),
      kubeconfigRenewal: args.renewal,
    });
  }
}
