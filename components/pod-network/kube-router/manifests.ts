/**
 * kube-router as pod network and for network policies: RBAC, ConfigMap, Secret, DaemonSet (pure
 * functions).
 */
import {
  buildRbacObjects,
  watchVerbs,
  buildRbacRule,
  systemNamespace,
} from "../../kubernetes-objects/rbac.js";
import {
  getApiHostVariables,
  buildAppLabel,
  addContainerDefaults,
  allTaintsTolerations,
  buildFieldEnvVar,
  buildLivenessProbe,
  apiByNameLabel,
  buildReadinessProbe,
} from "../../kubernetes-objects/pod-settings.js";
import type { RbacObjects } from "../../kubernetes-objects/rbac.js";
import type {
  ConfigMap,
  DaemonSet,
  StringInput,
  Secret,
} from "../../kubernetes-objects/kubernetes-types.js";
import { cniConfigDirectory, buildCniInstallHook } from "../cni-install-hook.js";
import { buildBgpWatch } from "./bgp-watch.js";
import type { KubeRouterOptions } from "./options.js";

const name = "kube-router";
const configMapName = "kube-router-cni";
const configKey = "cni.conflist";
/** Directory that holds the CNI configuration until it is complete. */
const draftDirectory = "/run/cni-configuration";
const cniFile = "10-kuberouter.conflist";
const draft = `${draftDirectory}/${cniFile}`;
const healthPort = 20244;

/**
 * Returns the permissions of kube-router: to read the objects that determine routes and network
 * policies. kube-router writes no objects.
 */
export function buildKubeRouterRbac(): RbacObjects {
  return buildRbacObjects({
    account: name,
    cluster: [
      buildRbacRule("", ["namespaces", "nodes", "pods", "services"], watchVerbs),
      buildRbacRule("discovery.k8s.io", ["endpointslices"], watchVerbs),
      buildRbacRule("networking.k8s.io", ["networkpolicies"], watchVerbs),
    ],
  });
}

/**
 * Returns the CNI configuration list. On each node, kube-router adds the node's pod CIDR to this
 * list.
 *
 * @param mtu MTU of the pods' interfaces, in bytes
 */
export function renderCniConfiguration(mtu: number): string {
  const plugins = [
    {
      type: "bridge",
      name: "kubernetes",
      bridge: "kube-bridge",
      isDefaultGateway: true,
      hairpinMode: true,
      mtu,
      ipam: { type: "host-local" },
    },
    { type: "portmap", capabilities: { portMappings: true, snat: true } },
  ];
  const list = { cniVersion: "0.3.0", name: "stackadm", plugins };
  return `${JSON.stringify(list, undefined, 2)}\n`;
}

/** Returns the ConfigMap with the CNI configuration. */
export function buildKubeRouterConfigMap(configuration: StringInput): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: configMapName, namespace: systemNamespace },
    data: { [configKey]: configuration },
  };
}

const passwordsSecret = "kube-router-peers";
const passwordsKey = "passwords";
const passwordsDirectory = "/etc/kube-router-peers";

/**
 * Returns the passwords of all peers in base64, separated by commas. The password of a peer without
 * a password is empty.
 */
export const renderPeerPasswords = (passwords: readonly (string | undefined)[]): string =>
  passwords.map((one = "") => Buffer.from(one).toString("base64")).join(",");

export function buildPeersSecret(passwords: StringInput): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: passwordsSecret, namespace: systemNamespace },
    type: "Opaque",
    stringData: { [passwordsKey]: passwords },
  };
}

/** Options that determine kube-router's arguments. */
export type KubeRouterFlagOptions = Omit<KubeRouterOptions, "kind">;

/** Arguments of {@link buildKubeRouterDaemonSet}. */
export interface KubeRouterSettings {
  readonly image: string;
  /**
   * CIDRs of the cluster IPs. Network policies treat these addresses as Services. With an IPv6
   * CIDR, kube-router routes both IPv4 and IPv6.
   */
  readonly serviceCidrs: readonly string[];
  /** Whether kube-router exchanges routes to pods by BGP. */
  readonly exchangesRoutes: boolean;
  /** Options of kube-router in the specification. @default the default of each option */
  readonly options?: KubeRouterFlagOptions;
  /**
   * Host name of the API, which each machine resolves itself.
   * @default kube-router reaches the API through its Service
   */
  readonly apiName?: string | undefined;
  /**
   * Resource version of the Secret with the passwords of BGP peers. kube-router reads the passwords
   * only when it starts, so a changed version restarts the pods.
   * @default no peer has a password
   */
  readonly passwordsVersion?: StringInput;
  /**
   * Digest of the CNI configuration. The pods install the configuration when they start, so a
   * changed digest restarts the pods.
   */
  readonly configChecksum: StringInput;
}

/**
 * Returns the DaemonSet with one kube-router per node, in an iBGP mesh or without BGP. Without an
 * overlay, all nodes are in one subnet, and their ports allow the addresses of pods. Neutron then
 * delivers the packets of pods.
 */
export function buildKubeRouterDaemonSet(settings: KubeRouterSettings): DaemonSet {
  const labels = buildAppLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: systemNamespace, labels },
    spec: {
      selector: { matchLabels: labels },
      // Pods keep their network while the daemon restarts, so several nodes are updated at the same
      // time.
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: {
          labels: { ...labels, ...apiByNameLabel },
          annotations: {
            "checksum/config": settings.configChecksum,
            ...(settings.passwordsVersion !== undefined && {
              "stackadm/peer-passwords": settings.passwordsVersion,
            }),
          },
        },
        spec: {
          serviceAccountName: name,
          hostNetwork: true,
          priorityClassName: "system-node-critical",
          tolerations: allTaintsTolerations,
          initContainers: [draftConfiguration(settings.image)],
          containers: [router(settings)],
          volumes: [
            { name: "cni", hostPath: { path: cniConfigDirectory, type: "DirectoryOrCreate" } },
            { name: "cni-draft", emptyDir: {} },
            { name: "cni-configuration", configMap: { name: configMapName } },
            { name: "modules", hostPath: { path: "/lib/modules", type: "DirectoryOrCreate" } },
            {
              name: "xtables-lock",
              hostPath: { path: "/run/xtables.lock", type: "FileOrCreate" },
            },
            ...(settings.passwordsVersion === undefined
              ? []
              : [{ name: "peer-passwords", secret: { secretName: passwordsSecret } }]),
          ],
        },
      },
    },
  };
}

/**
 * Returns the init container that copies the CNI configuration to a file. kube-router adds the
 * node's pod CIDR only to a file that exists.
 */
function draftConfiguration(image: string) {
  return addContainerDefaults({
    name: "draft-cni-configuration",
    image,
    command: ["cp", `/etc/kube-router/${configKey}`, draft],
    volumeMounts: [
      { name: "cni-draft", mountPath: draftDirectory },
      { name: "cni-configuration", mountPath: "/etc/kube-router", readOnly: true },
    ],
  });
}

const isIpv6 = (range: string): boolean => range.includes(":");

const overlayOf = (options: KubeRouterFlagOptions | undefined): readonly string[] =>
  options === undefined || options.overlay === "off"
    ? ["--enable-overlay=false"]
    : [
        "--enable-overlay=true",
        `--overlay-type=${options.overlay}`,
        `--overlay-encap=${options.tunnel}`,
      ];

/**
 * Returns the flags for BGP peers outside the cluster, and the flags for the Service addresses that
 * are advertised to these peers.
 */
function peersOf(
  { peers, multihop, advertiseServices }: KubeRouterFlagOptions,
  passwords: boolean,
) {
  if (peers.length === 0) return [];
  const each = (of: (peer: KubeRouterFlagOptions["peers"][number]) => string | number): string =>
    peers.map(of).join(",");
  return [
    `--peer-router-ips=${each(({ address }) => address)}`,
    `--peer-router-asns=${each(({ asn }) => asn)}`,
    `--peer-router-ports=${each(({ port }) => port)}`,
    ...(passwords ? [`--peer-router-passwords-file=${passwordsDirectory}/${passwordsKey}`] : []),
    ...(multihop === undefined ? [] : [`--peer-router-multihop-ttl=${multihop.toString()}`]),
    ...advertiseServices.map((kind) => `--advertise-${kind.replace("load-b", "loadb")}=true`),
  ];
}

/** Returns the flags for options whose values differ from the defaults. */
function choices(options: KubeRouterFlagOptions, passwords: boolean): readonly string[] {
  const { asn, serviceRanges, hairpin } = options;
  return [
    ...(asn === 64512 ? [] : [`--cluster-asn=${asn.toString()}`]),
    ...peersOf(options, passwords),
    // kube-router advertises only addresses in these CIDRs. As a service proxy, it also accepts
    // only these addresses.
    ...serviceRanges.flatMap((range) => [
      `--service-external-ip-range=${range}`,
      `--loadbalancer-ip-range=${range}`,
    ]),
    ...(hairpin ? ["--hairpin-mode=true"] : []),
  ];
}

const volumeMounts = (passwords: boolean) => [
  { name: "cni", mountPath: cniConfigDirectory },
  { name: "cni-draft", mountPath: draftDirectory },
  { name: "modules", mountPath: "/lib/modules", readOnly: true },
  { name: "xtables-lock", mountPath: "/run/xtables.lock" },
  ...(passwords ? [{ name: "peer-passwords", mountPath: passwordsDirectory, readOnly: true }] : []),
];

function router(settings: KubeRouterSettings) {
  const { image, serviceCidrs, exchangesRoutes, options, apiName } = settings;
  const dual = serviceCidrs.some(isIpv6);
  const passwords = settings.passwordsVersion !== undefined;
  const healthz = { path: "/healthz", port: healthPort, host: "127.0.0.1" };
  return addContainerDefaults({
    name,
    image,
    args: [
      "--run-router=true",
      "--run-firewall=true",
      // kube-proxy handles Services, unless kube-router replaces it.
      `--run-service-proxy=${String(options?.serviceProxy ?? false)}`,
      ...overlayOf(options),
      "--bgp-graceful-restart=true",
      // After a restart, kube-router waits this long for the routes of all peers before it announces
      // its own. With the default, other nodes could not reach the pods of this node for six minutes
      // (cloudnativelabs/kube-router issue 946). kube-router passes no routes on, so it need not wait.
      "--bgp-graceful-restart-deferral-time=5s",
      // If something removes the routes, the machine cannot reach pods on other machines until the
      // next sync. With the default, that could take one minute.
      "--injected-routes-sync-period=10s",
      // Without BGP, kube-router still assigns addresses to pods, and masquerades their traffic to
      // hosts outside the cluster.
      ...(exchangesRoutes ? [] : ["--enable-ibgp=false"]),
      // The MTU comes from Neutron and is already in the CNI configuration.
      "--auto-mtu=false",
      // The source/destination check exists only on another cloud. On OpenStack, kube-router would
      // wait for the metadata service of that cloud.
      "--disable-source-dest-check=false",
      ...(dual ? ["--enable-ipv6=true"] : []),
      ...serviceCidrs.map((range) => `--service-cluster-ip-range=${range}`),
      "--health-addr=127.0.0.1",
      `--health-port=${healthPort.toString()}`,
      ...(options ? choices(options, passwords) : []),
    ],
    env: [
      buildFieldEnvVar("NODE_NAME", "spec.nodeName"),
      { name: "KUBE_ROUTER_CNI_CONF_FILE", value: draft },
      ...getApiHostVariables(apiName),
    ],
    // The file is complete when it contains the node's pod CIDR. With IPv6, kube-router adds the
    // IPv6 CIDR last. Only this CIDR contains a colon.
    lifecycle: buildCniInstallHook({
      when: `grep -q '"subnet"${dual ? ': *"[^"]*:' : ""}' ${draft}`,
      from: draft,
      as: cniFile,
      andThen: exchangesRoutes ? buildBgpWatch() : undefined,
    }),
    volumeMounts: volumeMounts(passwords),
    readinessProbe: buildReadinessProbe(
      { httpGet: healthz },
      { periodSeconds: 2, failureThreshold: 3 },
    ),
    livenessProbe: buildLivenessProbe({ httpGet: healthz }, { initialDelaySeconds: 20 }),
    resources: { requests: { cpu: "50m", memory: "64Mi" } },
    // kube-router changes routes, iptables, ipsets and sysctls of the node.
    securityContext: { privileged: true },
  });
}
