import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../../kubernetes-objects/addon.js";
import { computeChecksum } from "../../pulumi/checksum.js";
import {
  renderCniConfiguration,
  buildKubeRouterRbac,
  buildKubeRouterConfigMap,
  buildKubeRouterDaemonSet,
  renderPeerPasswords,
  buildPeersSecret,
  type KubeRouterFlagOptions,
} from "./manifests.js";
import { isRoutedByCloud } from "../pod-network-kinds.js";
import type { PodNetworkSettings } from "../pod-network.js";

/**
 * kube-router: connects pods to their machine and enforces network policies. With `kube-router`, it
 * also exchanges routes by BGP. With `cloud-routes`, the cloud controller sets the routes.
 */
export class KubeRouter extends Addon {
  static readonly type = "stackadm:addons:KubeRouter";

  /** DaemonSet of kube-router. Pulumi waits until each existing node routes the packets of pods. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(
    name: string,
    args: PodNetworkSettings<"kube-router"> | PodNetworkSettings<"cloud-routes">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(KubeRouter.type, name, args, opts);
    const access = this.access(buildKubeRouterRbac());
    const configuration = pulumi.output(args.podMtu).apply(renderCniConfiguration);
    const configMap = this.object(
      kubernetes.core.v1.ConfigMap,
      "cni",
      buildKubeRouterConfigMap(configuration),
    );
    const options = args.options.kind === "kube-router" ? args.options : undefined;
    const peers = this.#peers(options);
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      // The pod CIDR is not passed, because each Node object contains the pod CIDR of its node.
      buildKubeRouterDaemonSet({
        image: args.images.kubeRouter,
        apiName: args.apiName,
        serviceCidrs: [args.serviceCidr, ...(args.ipv6 ? [args.ipv6.services] : [])],
        exchangesRoutes: !isRoutedByCloud(args.options),
        ...(options && { options }),
        ...(peers && { passwordsVersion: versionOf(peers) }),
        configChecksum: configuration.apply((text) => computeChecksum(text)),
      }),
      {
        // The API server refuses pods without their service account, and the pods fail without
        // permissions and configuration. These objects are therefore created first.
        dependsOn: [...access, configMap, ...(peers ? [peers] : [])],
        customTimeouts: this.daemonSetTimeouts,
      },
    );
    this.registerOutputs({});
  }

  /**
   * Creates the Secret with the passwords of BGP peers. Returns undefined if no peer has a
   * password.
   */
  #peers(options: KubeRouterFlagOptions | undefined): kubernetes.core.v1.Secret | undefined {
    const passwords = options?.peers.map(({ password }) => password) ?? [];
    if (passwords.every((one) => one === undefined)) return undefined;
    const text = pulumi.secret(pulumi.all(passwords).apply(renderPeerPasswords));
    return this.object(kubernetes.core.v1.Secret, "peers", buildPeersSecret(text));
  }
}

/**
 * Returns the resource version of the Secret. An annotation of the pods contains this value, so a
 * changed password restarts the pods. A digest of the passwords would be unsafe: readers of the
 * annotation could guess a weak password.
 */
const versionOf = ({ metadata }: kubernetes.core.v1.Secret): pulumi.Output<string> =>
  pulumi.unsecret(metadata).apply(({ resourceVersion }) => resourceVersion);
