/** kube-router as pod network and network policy: RBAC, CNI configuration, DaemonSet (pure). */
import { rbacObjects, watchVerbs, rule, systemNamespace } from "../../kubernetes-objects/rbac.js";
import {
  apiByName,
  appLabel,
  container,
  tolerateAllTaints,
  fromField,
  livenessProbeOf,
  apiByNameLabel,
  readinessProbeOf,
} from "../../kubernetes-objects/pod-settings.js";
import type { RbacObjects } from "../../kubernetes-objects/rbac.js";
import type {
  ConfigMap,
  DaemonSet,
  StringInput,
  Secret,
} from "../../kubernetes-objects/kubernetes-types.js";
import { cniDirectory, cniInstallHook } from "../cni-install-hook.js";
import type { KubeRouterOptions } from "./options.js";

const name = "kube-router";
const configMapName = "kube-router-cni";
const configKey = "cni.conflist";
/** Directory of the CNI configuration until the configuration is complete. */
const draftDirectory = "/run/cni-configuration";
const cniFile = "10-kuberouter.conflist";
const draft = `${draftDirectory}/${cniFile}`;
const healthPort = 20244;

/**
 * Returns kube-router's permissions: to read the objects that determine routes and network
 * policies. kube-router writes no objects.
 */
export function kubeRouterAccess(): RbacObjects {
  return rbacObjects({
    account: name,
    cluster: [
      rule("", ["namespaces", "nodes", "pods", "services"], watchVerbs),
      rule("discovery.k8s.io", ["endpointslices"], watchVerbs),
      rule("networking.k8s.io", ["networkpolicies"], watchVerbs),
    ],
  });
}

/**
 * Returns the CNI configuration list. On each node, kube-router adds the node's pod range.
 *
 * @param mtu MTU of the pods' interfaces in bytes
 */
export function cniConfiguration(mtu: number): string {
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
export function kubeRouterConfigMap(configuration: StringInput): ConfigMap {
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
 * Returns the passwords of all peers in base64, separated by commas. Empty for a peer without a
 * password.
 */
export const peerPasswords = (passwords: readonly (string | undefined)[]): string =>
  passwords.map((one = "") => Buffer.from(one).toString("base64")).join(",");

export function peersSecret(passwords: StringInput): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: passwordsSecret, namespace: systemNamespace },
    type: "Opaque",
    stringData: { [passwordsKey]: passwords },
  };
}

/** Options that kube-router's pods get. */
export type RouterOptions = Omit<KubeRouterOptions, "kind">;

/** Arguments of {@link kubeRouterDaemonSet}. */
export interface KubeRouterSettings {
  readonly image: string;
  /**
   * Ranges of cluster IPs, which network policies treat as Services. With an IPv6 range,
   * kube-router routes both IP families.
   */
  readonly serviceCidrs: readonly string[];
  /** Whether kube-router exchanges routes to pods by BGP. */
  readonly exchangesRoutes: boolean;
  /** Options of kube-router in the specification. @default default values */
  readonly options?: RouterOptions;
  /** Name of the API that machines resolve. @default kube-router reaches the API as a Service */
  readonly apiName?: string | undefined;
  /**
   * Version of the Secret with the passwords of peers. kube-router reads passwords only at its
   * start, so another version restarts the pods.
   * @default no peer has a password
   */
  readonly passwordsVersion?: StringInput;
  /**
   * Digest of the CNI configuration. Another digest restarts the pods, which install the
   * configuration.
   */
  readonly configChecksum: StringInput;
}

/**
 * Returns the DaemonSet with one kube-router per node, in an iBGP mesh or without BGP. Without an
 * overlay, all nodes are in one subnet and their ports allow addresses of pods, so Neutron delivers
 * the packets of pods.
 */
export function kubeRouterDaemonSet(settings: KubeRouterSettings): DaemonSet {
  const labels = appLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: systemNamespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
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
          tolerations: tolerateAllTaints,
          initContainers: [draftConfiguration(settings.image)],
          containers: [router(settings)],
          volumes: [
            { name: "cni", hostPath: { path: cniDirectory, type: "DirectoryOrCreate" } },
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
 * Returns the init container that copies the CNI configuration to a file, because kube-router adds
 * the node's pod range only to an existing file.
 */
function draftConfiguration(image: string) {
  return container({
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

const overlayOf = (options: RouterOptions | undefined): readonly string[] =>
  options === undefined || options.overlay === "off"
    ? ["--enable-overlay=false"]
    : [
        "--enable-overlay=true",
        `--overlay-type=${options.overlay}`,
        `--overlay-encap=${options.tunnel}`,
      ];

/**
 * Returns the flags for BGP peers outside the cluster, and for the addresses of Services that are
 * advertised to the peers.
 */
function peersOf({ peers, multihop, advertiseServices }: RouterOptions, passwords: boolean) {
  if (peers.length === 0) return [];
  const each = (of: (peer: RouterOptions["peers"][number]) => string | number): string =>
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

/** Returns the flags for options that differ from their defaults. */
function choices(options: RouterOptions, passwords: boolean): readonly string[] {
  const { asn, serviceRanges, hairpin } = options;
  return [
    ...(asn === 64512 ? [] : [`--cluster-asn=${asn.toString()}`]),
    ...peersOf(options, passwords),
    // kube-router advertises only addresses in these ranges, and as service proxy accepts no
    // others.
    ...serviceRanges.flatMap((range) => [
      `--service-external-ip-range=${range}`,
      `--loadbalancer-ip-range=${range}`,
    ]),
    ...(hairpin ? ["--hairpin-mode=true"] : []),
  ];
}

const volumeMounts = (passwords: boolean) => [
  { name: "cni", mountPath: cniDirectory },
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
  return container({
    name,
    image,
    args: [
      "--run-router=true",
      "--run-firewall=true",
      // kube-proxy handles Services, unless kube-router replaces kube-proxy.
      `--run-service-proxy=${String(options?.serviceProxy ?? false)}`,
      ...overlayOf(options),
      "--bgp-graceful-restart=true",
      // If something removes the routes, a machine reaches no pods on other machines until the next
      // sync. The default is a minute.
      "--injected-routes-sync-period=10s",
      // Without BGP, kube-router still assigns addresses to pods and masquerades their traffic to
      // outside.
      ...(exchangesRoutes ? [] : ["--enable-ibgp=false"]),
      // The CNI configuration contains the MTU, which comes from Neutron.
      "--auto-mtu=false",
      // The check is for another cloud. On OpenStack, kube-router would only wait for the metadata
      // service of that cloud.
      "--disable-source-dest-check=false",
      ...(dual ? ["--enable-ipv6=true"] : []),
      ...serviceCidrs.map((range) => `--service-cluster-ip-range=${range}`),
      "--health-addr=127.0.0.1",
      `--health-port=${healthPort.toString()}`,
      ...(options ? choices(options, passwords) : []),
    ],
    env: [
      fromField("NODE_NAME", "spec.nodeName"),
      { name: "KUBE_ROUTER_CNI_CONF_FILE", value: draft },
      ...apiByName(apiName),
    ],
    // The file is complete when it contains the node's pod range. kube-router adds the IPv6 range
    // last, and only that range contains a colon.
    lifecycle: cniInstallHook({
      when: `grep -q '"subnet"${dual ? ': *"[^"]*:' : ""}' ${draft}`,
      from: draft,
      as: cniFile,
    }),
    volumeMounts: volumeMounts(passwords),
    readinessProbe: readinessProbeOf(
      { httpGet: healthz },
      { periodSeconds: 2, failureThreshold: 3 },
    ),
    livenessProbe: livenessProbeOf({ httpGet: healthz }, { initialDelaySeconds: 20 }),
    resources: { requests: { cpu: "50m", memory: "64Mi" } },
    // kube-router changes routes, iptables, ipsets and sysctls of the node.
    securityContext: { privileged: true },
  });
}
