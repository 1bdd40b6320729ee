import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../../support/addon.js";
import { checksum } from "../../support/checksum.js";
import {
  cniConfiguration,
  kubeRouterAccess,
  kubeRouterConfigMap,
  kubeRouterDaemonSet,
  peerPasswords,
  peersSecret,
  type RouterOptions,
} from "./manifests.js";
import { routedByCloud } from "../kinds.js";
import type { PodNetworkSettings } from "../pod-network.js";

/** Attaches pods to their machine, enforces network policies, and keeps the routes between machines by BGP, or has the cloud keep them. */
export class KubeRouter extends Addon {
  static readonly type = "stackadm:addons:KubeRouter";

  /** Created means that each node then known routes pods. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(
    name: string,
    args: PodNetworkSettings<"kube-router"> | PodNetworkSettings<"cloud-routes">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(KubeRouter.type, name, args, opts);
    const access = this.access(kubeRouterAccess());
    const configuration = pulumi.output(args.podMtu).apply(cniConfiguration);
    const configMap = this.object(
      kubernetes.core.v1.ConfigMap,
      "cni",
      kubeRouterConfigMap(configuration),
    );
    const options = args.options.kind === "kube-router" ? args.options : undefined;
    const peers = this.#peers(options);
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      // The pod range is not passed on: each node's share of it stands in the Node object.
      kubeRouterDaemonSet({
        ...{ image: args.images.kubeRouter, apiName: args.apiName },
        serviceCidrs: [args.serviceCidr, ...(args.ipv6 ? [args.ipv6.services] : [])],
        exchangesRoutes: !routedByCloud(args.options),
        ...(options && { options }),
        ...(peers && { passwordsVersion: versionOf(peers) }),
        configChecksum: configuration.apply((text) => checksum(text)),
      }),
      {
        // order: pods without their account are refused, without rights and configuration they fail.
        dependsOn: [...access, configMap, ...(peers ? [peers] : [])],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }

  /** Where a peer has a password. */
  #peers(options: RouterOptions | undefined): kubernetes.core.v1.Secret | undefined {
    const passwords = options?.peers.map(({ password }) => password) ?? [];
    if (passwords.every((one) => one === undefined)) return undefined;
    const text = pulumi.secret(pulumi.all(passwords).apply(peerPasswords));
    return this.object(kubernetes.core.v1.Secret, "peers", peersSecret(text));
  }
}

/** No digest: what people choose as a password would be found by it. */
const versionOf = ({ metadata }: kubernetes.core.v1.Secret): pulumi.Output<string> =>
  pulumi.unsecret(metadata).apply(({ resourceVersion }) => resourceVersion);
