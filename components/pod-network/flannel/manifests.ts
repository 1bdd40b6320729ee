/** flannel as pod network: namespace, RBAC, ConfigMap, DaemonSet (pure functions). */
import { buildRbacObjects, watchVerbs, buildRbacRule } from "../../kubernetes-objects/rbac.js";
import {
  getApiHostVariables,
  buildAppLabel,
  addContainerDefaults,
  allTaintsTolerations,
  buildFieldEnvVar,
  buildLivenessProbe,
  apiByNameLabel,
} from "../../kubernetes-objects/pod-settings.js";
import { cniConfigDirectory, buildCniInstallHook } from "../cni-install-hook.js";
import { vxlanOverhead, vxlanPort } from "./traits.js";
import type { FlannelOptions } from "./options.js";
import type { RbacObjects } from "../../kubernetes-objects/rbac.js";
import type {
  ConfigMap,
  DaemonSet,
  StringInput,
  Namespace,
  SecurityContext,
} from "../../kubernetes-objects/kubernetes-types.js";

const name = "kube-flannel";
const namespace = name;
const account = "flannel";
const configMapName = "kube-flannel-cfg";
const configDirectory = "/etc/kube-flannel";
const cniKey = "cni-conf.json";
const networkKey = "net-conf.json";
const pluginDirectory = "/opt/cni/bin";
/**
 * Directory in which flanneld writes the node's subnet and MTU. flannel's CNI plugin reads these
 * files.
 */
const stateDirectory = "/run/flannel";
const healthPort = 20245;

/** Returns the namespace of flannel, with the name that flannel's documentation uses. */
export function buildFlannelNamespace(): Namespace {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespace,
      // flannel's pods use the host network and write to directories of the node.
      labels: { "pod-security.kubernetes.io/enforce": "privileged" },
    },
  };
}

/**
 * Returns the permissions of flannel. flanneld publishes the address of its tunnel in annotations
 * of the node. flanneld gets the node's name from NODE_NAME, so it need not read pods.
 */
export function buildFlannelRbac(): RbacObjects {
  return buildRbacObjects({
    account,
    home: namespace,
    cluster: [
      buildRbacRule("", ["nodes"], watchVerbs),
      buildRbacRule("", ["nodes/status"], ["patch"]),
    ],
  });
}

/**
 * Returns the CNI configuration list. flannel's CNI plugin adds the values that flanneld writes to
 * a file.
 */
export function renderCniConfiguration(): string {
  const plugins = [
    { type: "flannel", delegate: { hairpinMode: true, isDefaultGateway: true } },
    { type: "portmap", capabilities: { portMappings: true } },
  ];
  return json({ name: "stackadm", cniVersion: "0.3.1", plugins });
}

/**
 * Returns the configuration of flanneld. An existing tunnel keeps its MTU until the machine
 * restarts.
 *
 * @param podMtu MTU of the pods' interfaces, in bytes
 * @param ipv6 IPv6 CIDR of the pods. Default: no IPv6
 */
export function renderFlannelConfiguration(
  podCidr: string,
  backend: FlannelOptions["backend"],
  podMtu: number,
  ipv6?: string,
): string {
  // flanneld expects the MTU of the machines' network, and itself subtracts the bytes that the
  // tunnel adds.
  const tunnel = { Type: "vxlan", VNI: 1, Port: vxlanPort, MTU: podMtu + vxlanOverhead };
  // Without a tunnel, pods have the same MTU as the machine's interface.
  return json({
    Network: podCidr,
    ...(ipv6 !== undefined && { EnableIPv6: true, IPv6Network: ipv6 }),
    Backend: backend === "vxlan" ? tunnel : { Type: backend },
  });
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Returns the ConfigMap with the CNI configuration and the configuration of flanneld. */
export function buildFlannelConfigMap(networkConfig: StringInput): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: configMapName, namespace },
    data: { [cniKey]: renderCniConfiguration(), [networkKey]: networkConfig },
  };
}

/** Arguments of {@link buildFlannelDaemonSet}. */
export interface FlannelSettings {
  readonly images: { readonly flannel: string; readonly flannelCniPlugin: string };
  /**
   * Digest of both configurations. The pods install the configurations when they start, so a
   * changed digest restarts the pods.
   */
  readonly configChecksum: StringInput;
  /** Whether pods also have IPv6 addresses. @default false */
  readonly dual?: boolean;
  /**
   * Host name of the API, which each machine resolves itself.
   * @default flanneld reaches the API through its Service
   */
  readonly apiName?: string | undefined;
}

/**
 * Returns the DaemonSet with one flanneld per node. kube-controller-manager assigns a pod CIDR to
 * each node.
 */
export function buildFlannelDaemonSet(settings: FlannelSettings): DaemonSet {
  const { images, configChecksum, dual = false, apiName } = settings;
  const labels = buildAppLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      // Pods keep their network while the daemon restarts, so several nodes are updated at the same
      // time.
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: {
          labels: { ...labels, ...apiByNameLabel },
          annotations: { "checksum/config": configChecksum },
        },
        spec: {
          serviceAccountName: account,
          hostNetwork: true,
          priorityClassName: "system-node-critical",
          tolerations: allTaintsTolerations,
          initContainers: [installPlugin(images.flannelCniPlugin)],
          containers: [flanneld(images.flannel, dual, apiName)],
          volumes: [
            { name: "state", hostPath: { path: stateDirectory, type: "DirectoryOrCreate" } },
            { name: "plugins", hostPath: { path: pluginDirectory, type: "DirectoryOrCreate" } },
            { name: "cni", hostPath: { path: cniConfigDirectory, type: "DirectoryOrCreate" } },
            { name: "configuration", configMap: { name: configMapName } },
            {
              name: "xtables-lock",
              hostPath: { path: "/run/xtables.lock", type: "FileOrCreate" },
            },
          ],
        },
      },
    },
  };
}

const configurationMount = { name: "configuration", mountPath: configDirectory, readOnly: true };

/** Returns the security context of a root container that has only the capabilities in `add`. */
const only = (...add: string[]): SecurityContext => ({
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"], ...(add.length > 0 && { add }) },
});

function installPlugin(image: string) {
  return addContainerDefaults({
    name: "install-cni-plugin",
    image,
    // With -f, cp replaces the file of a running plugin, which cannot be overwritten.
    command: ["cp", "-f", "/flannel", `${pluginDirectory}/flannel`],
    volumeMounts: [{ name: "plugins", mountPath: pluginDirectory }],
    securityContext: only(),
  });
}

/**
 * Returns the settings with which flanneld selects the interface with the node's address. With IPv4
 * and IPv6, flanneld needs two addresses. Kubernetes supplies both in one variable, so a shell must
 * split the variable.
 */
const interfaceOf = (dual: boolean) =>
  dual
    ? {
        command: [
          ...["sh", "-ec", 'exec /opt/bin/flanneld --iface="${0%,*}" --public-ipv6="${0#*,}" "$@"'],
          "$(NODE_ADDRESSES)",
        ],
        iface: [],
        address: buildFieldEnvVar("NODE_ADDRESSES", "status.hostIPs"),
      }
    : {
        iface: ["--iface=$(NODE_ADDRESS)"],
        address: buildFieldEnvVar("NODE_ADDRESS", "status.hostIP"),
      };

function flanneld(image: string, dual: boolean, apiName: string | undefined) {
  const { iface, address, ...command } = interfaceOf(dual);
  const subnetFile = `${stateDirectory}/subnet.env`;
  return addContainerDefaults({
    name: "flanneld",
    image,
    ...command,
    args: [
      "--kube-subnet-mgr",
      // Hosts outside the cluster have no route to a pod, so flanneld masquerades traffic to them.
      "--ip-masq",
      ...iface,
      `--net-config-path=${configDirectory}/${networkKey}`,
      `--subnet-file=${subnetFile}`,
      "--healthz-ip=127.0.0.1",
      `--healthz-port=${healthPort.toString()}`,
    ],
    env: [buildFieldEnvVar("NODE_NAME", "spec.nodeName"), address, ...getApiHostVariables(apiName)],
    lifecycle: buildCniInstallHook({
      when: `test -s ${subnetFile}`,
      from: `${configDirectory}/${cniKey}`,
      as: "10-flannel.conflist",
    }),
    volumeMounts: [
      { name: "state", mountPath: stateDirectory },
      { name: "cni", mountPath: cniConfigDirectory },
      configurationMount,
      { name: "xtables-lock", mountPath: "/run/xtables.lock" },
    ],
    livenessProbe: buildLivenessProbe({
      httpGet: { path: "/healthz", port: healthPort, host: "127.0.0.1" },
    }),
    resources: { requests: { cpu: "50m", memory: "50Mi" } },
    // flanneld changes routes, the tunnel and iptables of the node.
    securityContext: only("NET_ADMIN", "NET_RAW"),
  });
}
