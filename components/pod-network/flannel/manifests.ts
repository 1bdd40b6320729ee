/** flannel as pod network: namespace, access, configuration, DaemonSet (pure). */
import { access, reading, rule } from "../../support/manifests/access.js";
import {
  apiByName,
  appLabel,
  container,
  everywhere,
  fromField,
  liveness,
  namesApi,
} from "../../support/manifests/pod.js";
import { cniDirectory, publishes } from "../cni.js";
import { vxlanOverhead, vxlanPort } from "./traits.js";
import type { FlannelOptions } from "./options.js";
import type { Access } from "../../support/manifests/access.js";
import type {
  ConfigMap,
  DaemonSet,
  Late,
  Namespace,
  SecurityContext,
} from "../../support/kubernetes-types.js";

const name = "kube-flannel";
const namespace = name;
const account = "flannel";
const configMapName = "kube-flannel-cfg";
const configDirectory = "/etc/kube-flannel";
const cniKey = "cni-conf.json";
const networkKey = "net-conf.json";
const pluginDirectory = "/opt/cni/bin";
/** Where flanneld writes, and its CNI plugin reads, the node's subnet and MTU. */
const stateDirectory = "/run/flannel";
const healthPort = 20245;

/** flannel's own namespace, as its documentation has it. */
export function flannelNamespace(): Namespace {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespace,
      // Its pods are in the node's network and write to its directories.
      labels: { "pod-security.kubernetes.io/enforce": "privileged" },
    },
  };
}

/** flanneld tells the other nodes its tunnel's end by annotations of its node. With NODE_NAME it reads no pod. */
export function flannelAccess(): Access {
  return access({
    account,
    home: namespace,
    cluster: [rule("", ["nodes"], reading), rule("", ["nodes/status"], ["patch"])],
  });
}

/** The CNI configuration list. flannel's plugin completes the bridge's part from what flanneld wrote. */
export function cniConfiguration(): string {
  const plugins = [
    { type: "flannel", delegate: { hairpinMode: true, isDefaultGateway: true } },
    { type: "portmap", capabilities: { portMappings: true } },
  ];
  return json({ name: "stackadm", cniVersion: "0.3.1", plugins });
}

/**
 * flanneld's configuration. A tunnel that is there keeps its MTU until its machine starts again.
 *
 * @param podMtu of pod interfaces, bytes
 * @param ipv6 the pods' range of IPv6; default: there is none
 */
export function networkConfiguration(
  podCidr: string,
  backend: FlannelOptions["backend"],
  podMtu: number,
  ipv6?: string,
): string {
  // flanneld wants to know how large a packet may leave the machine, and takes off the tunnel's bytes itself.
  const tunnel = { Type: "vxlan", VNI: 1, Port: vxlanPort, MTU: podMtu + vxlanOverhead };
  // Pods then have the MTU of the machine's interface, which is the network's.
  return json({
    Network: podCidr,
    ...(ipv6 !== undefined && { EnableIPv6: true, IPv6Network: ipv6 }),
    Backend: backend === "vxlan" ? tunnel : { Type: backend },
  });
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Carries both configurations to the nodes. */
export function flannelConfigMap(networkConfig: Late): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: configMapName, namespace },
    data: { [cniKey]: cniConfiguration(), [networkKey]: networkConfig },
  };
}

/** Arguments of {@link flannelDaemonSet}. */
export interface FlannelSettings {
  readonly images: { readonly flannel: string; readonly flannelCniPlugin: string };
  /** Digest of both configurations: a changed one restarts the pods, which install them. */
  readonly configChecksum: Late;
  /** Whether pods have IPv6 besides. @default they do not */
  readonly dual?: boolean;
  /** Name that machines know the API by. @default it is reached as a Service */
  readonly apiName?: string | undefined;
}

/** One flanneld per node; subnets of nodes are those that kube-controller-manager gave them. */
export function flannelDaemonSet(settings: FlannelSettings): DaemonSet {
  const { images, configChecksum, dual = false, apiName } = settings;
  const labels = appLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: {
          labels: { ...labels, ...namesApi },
          annotations: { "checksum/config": configChecksum },
        },
        spec: {
          serviceAccountName: account,
          hostNetwork: true,
          priorityClassName: "system-node-critical",
          tolerations: everywhere,
          initContainers: [installPlugin(images.flannelCniPlugin)],
          containers: [flanneld(images.flannel, dual, apiName)],
          volumes: [
            { name: "state", hostPath: { path: stateDirectory, type: "DirectoryOrCreate" } },
            { name: "plugins", hostPath: { path: pluginDirectory, type: "DirectoryOrCreate" } },
            { name: "cni", hostPath: { path: cniDirectory, type: "DirectoryOrCreate" } },
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

/** Root on the node's files and nothing else, but what is added. */
const only = (...add: string[]): SecurityContext => ({
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"], ...(add.length > 0 && { add }) },
});

function installPlugin(image: string) {
  return container({
    name: "install-cni-plugin",
    image,
    // -f: a plugin that is running cannot be written to, only replaced.
    command: ["cp", "-f", "/flannel", `${pluginDirectory}/flannel`],
    volumeMounts: [{ name: "plugins", mountPath: pluginDirectory }],
    securityContext: only(),
  });
}

/**
 * The interface that has the node's address, whichever else there is. Of two families flanneld looks for that of IPv6 only
 * where it is told which one it is, and the node's addresses come as one value.
 */
const interfaceOf = (dual: boolean) =>
  dual
    ? {
        command: [
          ...["sh", "-ec", 'exec /opt/bin/flanneld --iface="${0%,*}" --public-ipv6="${0#*,}" "$@"'],
          "$(NODE_ADDRESSES)",
        ],
        iface: [],
        address: fromField("NODE_ADDRESSES", "status.hostIPs"),
      }
    : {
        iface: ["--iface=$(NODE_ADDRESS)"],
        address: fromField("NODE_ADDRESS", "status.hostIP"),
      };

function flanneld(image: string, dual: boolean, apiName: string | undefined) {
  const { iface, address, ...command } = interfaceOf(dual);
  const subnetFile = `${stateDirectory}/subnet.env`;
  return container({
    name: "flanneld",
    image,
    ...command,
    args: [
      "--kube-subnet-mgr",
      // Nobody outside knows a way back to a pod.
      "--ip-masq",
      ...iface,
      `--net-config-path=${configDirectory}/${networkKey}`,
      `--subnet-file=${subnetFile}`,
      "--healthz-ip=127.0.0.1",
      `--healthz-port=${healthPort.toString()}`,
    ],
    env: [fromField("NODE_NAME", "spec.nodeName"), address, ...apiByName(apiName)],
    lifecycle: publishes({
      when: `test -s ${subnetFile}`,
      from: `${configDirectory}/${cniKey}`,
      as: "10-flannel.conflist",
    }),
    volumeMounts: [
      { name: "state", mountPath: stateDirectory },
      { name: "cni", mountPath: cniDirectory },
      configurationMount,
      { name: "xtables-lock", mountPath: "/run/xtables.lock" },
    ],
    livenessProbe: liveness({
      httpGet: { path: "/healthz", port: healthPort, host: "127.0.0.1" },
    }),
    resources: { requests: { cpu: "50m", memory: "50Mi" } },
    // Routes, tunnel and iptables of the node.
    securityContext: only("NET_ADMIN", "NET_RAW"),
  });
}
