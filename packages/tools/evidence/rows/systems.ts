import { kubernetesMinors } from "../../../../base/versions/pinned-versions.js";
import {
  createEmulatedProof,
  createExampleProof,
  createLabProof,
  type Proof,
  type SupportRow,
} from "../row.js";

/** Map from the prefix of an image name in a cloud to the name of the operating system. */
const images = {
  "debian-12": "Debian 12",
  "debian-13": "Debian 13",
  "ubuntu-22.04": "Ubuntu 22.04",
  "ubuntu-24.04": "Ubuntu 24.04",
  "ubuntu-26.04": "Ubuntu 26.04",
} as const;
type Image = keyof typeof images;

const features = {
  prepare: "packages, containerd and kernel settings (`prepare`)",
  up: "`up`, no changes on a second `up`, `destroy`",
  reboot: "reboot of each node",
  networkd: "restart of systemd-networkd",
  "security-updates": "security updates while pods run",
} as const;
type Feature = keyof typeof features;

export type SystemRowId = `system/${Image}/${Feature}`;

/** Proofs of each feature of each operating system. */
const proofs: Partial<Record<Image, Partial<Record<Feature, readonly Proof[]>>>> = {
  "debian-12": {
    prepare: [
      createLabProof("life"),
      createEmulatedProof("prepare"),
      createEmulatedProof("defaults", "is created and verified"),
    ],
    up: [createLabProof("life"), createEmulatedProof("defaults")],
    reboot: [createEmulatedProof("defaults", "after a reboot")],
    networkd: [createEmulatedProof("defaults", "while systemd-networkd is restarted")],
    "security-updates": [
      createEmulatedProof("defaults", "during an unattended security update of systemd"),
    ],
  },
  "debian-13": {
    prepare: [createEmulatedProof("all/debian-13")],
    up: [createEmulatedProof("all/debian-13")],
  },
};

const ubuntuScripts = (name: string): string => `test/scripts/ubuntu/${name}.test.ts`;

/** Tests that run scripts with the files of an operating system which no test boots. */
const scripts: Partial<Record<Feature, readonly string[]>> = {
  prepare: [ubuntuScripts("packages"), ubuntuScripts("ssh")],
  networkd: [ubuntuScripts("network")],
  "security-updates": [ubuntuScripts("packages")],
};

/** Rows for each combination of an operating system and a feature. */
export const systemRows = Object.fromEntries(
  Object.entries(images).flatMap(([image, name]) =>
    Object.entries(features).map(([feature, what]): [string, SupportRow] => {
      const shown = proofs[image as Image]?.[feature as Feature];
      const tried = image.startsWith("ubuntu-") && scripts[feature as Feature];
      return [
        `system/${image}/${feature}`,
        {
          what: `${name}: ${what}`,
          image,
          ...(shown && { proofs: shown }),
          ...(tried && { scripts: tried }),
        },
      ];
    }),
  ),
) as Readonly<Record<SystemRowId, SupportRow>>;

const [newest, former] = Object.values(kubernetesMinors);

export const kubernetesRows = {
  "kubernetes/newest": {
    what: `Kubernetes ${newest?.version ?? ""}, the default, with cloud controller and CSI ${newest?.cloudProvider ?? ""}`,
    proofs: [createLabProof("life")],
  },
  "kubernetes/former": {
    what: `Kubernetes ${former?.version ?? ""}, with cloud controller and CSI ${former?.cloudProvider ?? ""}`,
    proofs: [createLabProof("all/lifecycle/versions", `Kubernetes ${former?.version ?? ""},`)],
  },
  "upgrade/minor": {
    what: `${former?.version ?? ""} to ${newest?.version ?? ""} in place, three control planes and two workers, with clients that send requests`,
    proofs: [createLabProof("all/lifecycle/upgrade")],
  },
  "upgrade/minor-one-control-plane": {
    what: "a minor upgrade in place, one control plane and one worker",
    proofs: [createEmulatedProof("all/upgrade")],
    note: "graph; scripts with stubs of kubeadm and the other commands",
  },
  "upgrade/patch": {
    what: "a patch release in place",
    note: "graph; scripts with stubs of kubeadm and the other commands",
  },
  "upgrade/etcd-machines": {
    what: "a minor upgrade in place with dedicated etcd machines",
    note: "graph; scripts with stubs of kubeadm and the other commands",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const configurationRows = {
  "configuration/flags": {
    what: "API server flags and an audit log from the first `up`, changed in a running cluster, rolled back if a flag is wrong; a kubelet field; renewal of kubeadm's certificates; patches of the scheduler",
    proofs: [createLabProof("all/kubernetes/component-configuration")],
    note: "patches of other components, renewal on several control planes: scripts with stubs of kubeadm and the other commands",
  },
  "configuration/own": {
    what: "OIDC, certificate lifetimes, flags of the other components, `nodePortAddresses` of kube-proxy",
    proofs: [createLabProof("all/kubernetes/own")],
    note: "with several control planes: graph",
  },
  "configuration/hardened": {
    what: "`kubernetes.hardened` from the first `up` and in a running cluster; Secrets encrypted in etcd",
    proofs: [createLabProof("all/kubernetes/hardening")],
  },
  "configuration/keystone": {
    what: "login with Keystone users, with RBAC and with Keystone policies",
    proofs: [createLabProof("all/addons/keystone-auth")],
  },
  "configuration/kubeadm-timeouts": {
    what: "a machine that is too slow for kubeadm's default timeouts",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const pulumiPluginRows = {
  "plugins/openstack-official": {
    what: "the official OpenStack plugin",
    proofs: [createLabProof("life")],
    plugin: { name: "openstack", origin: "official" },
    note: "used if it is installed; its schema is compared with the schema of the built plugin",
  },
  "plugins/openstack-built": {
    what: "the OpenStack plugin that this project builds from the official plugin's Terraform provider",
    proofs: [createLabProof("life")],
    plugin: { name: "openstack", origin: "built" },
  },
  "plugins/kubernetes-official": {
    what: "the official Kubernetes plugin",
    proofs: [createLabProof("life")],
    plugin: { name: "kubernetes", origin: "official" },
    note: "used if it is installed",
  },
  "plugins/kubernetes-stand-in": {
    what: "this project's stand-in for the Kubernetes plugin",
    proofs: [createLabProof("life")],
    plugin: { name: "kubernetes", origin: "stand-in" },
  },
  "plugins/command-official": {
    what: "the official command plugin",
    proofs: [createLabProof("life")],
    plugin: { name: "command", origin: "official" },
    note: "used if it is installed",
  },
  "plugins/command-stand-in": {
    what: "this project's stand-in for the command plugin",
    proofs: [createLabProof("life")],
    plugin: { name: "command", origin: "stand-in" },
  },
  "plugins/nodejs-official": {
    what: "Pulumi's own Node.js language host",
    proofs: [createLabProof("life")],
    plugin: { name: "nodejs", origin: "official" },
    note: "used if it is installed",
  },
  "plugins/nodejs-stand-in": {
    what: "this project's stand-in for the language host",
    proofs: [createLabProof("life")],
    plugin: { name: "nodejs", origin: "stand-in" },
  },
  "plugins/library": {
    what: "the packed npm package as a library, with plain `pulumi up`",
    proofs: [createExampleProof("ha-kube-router")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;
