import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../../kubernetes-objects/addon.js";
import { checksum } from "../../pulumi/checksum.js";
import {
  cniConfiguration,
  kubeRouterAccess,
  kubeRouterConfigMap,
  kubeRouterDaemonSet,
  peerPasswords,
  peersSecret,
  type RouterOptions,
} from "./manifests.js";
import { routedByCloud } from "../pod-network-kinds.js";
import type { PodNetworkSettings } from "../pod-network.js";

/**
 * kube-router: connects pods to their machine and enforces network policies. Exchanges routes by
 * BGP, unless the cloud controller sets the routes (`cloud-routes`).
 */
export class KubeRouter extends Addon {
  static readonly type = "stackadm:addons:KubeRouter";

  /**
   * DaemonSet of kube-router. Its creation ends when each node that existed at that time routes
   * packets of pods.
   */
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
      // The pod range is not passed: each node's Node object has its part of the range.
      kubeRouterDaemonSet({
        image: args.images.kubeRouter,
        apiName: args.apiName,
        serviceCidrs: [args.serviceCidr, ...(args.ipv6 ? [args.ipv6.services] : [])],
        exchangesRoutes: !routedByCloud(args.options),
        ...(options && { options }),
        ...(peers && { passwordsVersion: versionOf(peers) }),
        configChecksum: configuration.apply((text) => checksum(text)),
      }),
      {
        // order: pods are refused without their service account, and fail without permissions and
        // configuration.
        dependsOn: [...access, configMap, ...(peers ? [peers] : [])],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }

  /** Creates the Secret with the passwords of BGP peers, if any peer has a password. */
  #peers(options: RouterOptions | undefined): kubernetes.core.v1.Secret | undefined {
    const passwords = options?.peers.map(({ password }) => password) ?? [];
    if (passwords.every((one) => one === undefined)) return undefined;
    const text = pulumi.secret(pulumi.all(passwords).apply(peerPasswords));
    return this.object(kubernetes.core.v1.Secret, "peers", peersSecret(text));
  }
}

/**
 * Returns the resource version of the Secret, for an annotation that others may read. With a digest
 * instead, others could find a weak password by trying many.
 */
const versionOf = ({ metadata }: kubernetes.core.v1.Secret): pulumi.Output<string> =>
  pulumi.unsecret(metadata).apply(({ resourceVersion }) => resourceVersion);
