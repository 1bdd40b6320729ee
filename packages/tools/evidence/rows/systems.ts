import { kubernetesMinors } from "../../../../base/versions/pinned-versions.js";
import { emulated, example, lab, type Proof, type Row } from "../row.js";

/** Names of the systems. Keys: the beginning of the names of their images in a cloud. */
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
  up: "`up`, no changes the second time, `destroy`",
  reboot: "reboot of each node",
  networkd: "restart of systemd-networkd",
  "security-updates": "security updates while pods run",
} as const;
type Feature = keyof typeof features;

export type SystemId = `system/${Image}/${Feature}`;

/** Tests that show a feature of a system. */
const proofs: Partial<Record<Image, Partial<Record<Feature, readonly Proof[]>>>> = {
  "debian-12": {
    prepare: [lab("life"), emulated("prepare"), emulated("defaults", "comes up and is verified")],
    up: [lab("life"), emulated("defaults")],
    reboot: [emulated("defaults", "after a reboot")],
    networkd: [emulated("defaults", "while systemd-networkd is restarted")],
    "security-updates": [emulated("defaults", "while a security update of systemd comes")],
  },
  "debian-13": { prepare: [emulated("all/debian-13")], up: [emulated("all/debian-13")] },
};

const ubuntuScripts = (name: string): string => `test/scripts/ubuntu/${name}.test.ts`;

/** Tests of scripts with files of a system that no test boots. */
const scripts: Partial<Record<Feature, readonly string[]>> = {
  prepare: [ubuntuScripts("packages"), ubuntuScripts("ssh")],
  networkd: [ubuntuScripts("network")],
  "security-updates": [ubuntuScripts("packages")],
};

/** Every image with every feature. */
export const systems = Object.fromEntries(
  Object.entries(images).flatMap(([image, name]) =>
    Object.entries(features).map(([feature, what]): [string, Row] => {
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
) as Readonly<Record<SystemId, Row>>;

const [newest, former] = Object.values(kubernetesMinors);

export const kubernetes = {
  "kubernetes/newest": {
    what: `Kubernetes ${newest?.version ?? ""}, the default, with cloud controller and CSI ${newest?.cloudProvider ?? ""}`,
    proofs: [lab("life")],
  },
  "kubernetes/former": {
    what: `Kubernetes ${former?.version ?? ""}, with cloud controller and CSI ${former?.cloudProvider ?? ""}`,
    proofs: [lab("all/lifecycle/versions", `Kubernetes ${former?.version ?? ""},`)],
  },
  "upgrade/minor": {
    what: `${former?.version ?? ""} to ${newest?.version ?? ""} in place, three control planes and two workers under clients`,
    proofs: [lab("all/lifecycle/upgrade")],
  },
  "upgrade/minor-one-control-plane": {
    what: "a minor in place, one control plane and one worker",
    proofs: [emulated("all/upgrade")],
    note: "graph; scripts with stubs of the commands",
  },
  "upgrade/patch": {
    what: "a patch release in place",
    note: "graph; scripts with stubs of the commands",
  },
  "upgrade/etcd-machines": {
    what: "a minor in place with etcd on machines of its own",
    note: "graph; scripts with stubs of the commands",
  },
} as const satisfies Readonly<Record<string, Row>>;

export const configuration = {
  "configuration/flags": {
    what: "flags of the API server and an audit log from the first `up`, changed on a living cluster, undone where a flag is wrong; a field of kubelet; renewal of kubeadm's certificates; patches of the scheduler",
    proofs: [lab("all/kubernetes/component-configuration")],
    note: "patches of other components, renewal on several control planes: scripts with stubs of the commands",
  },
  "configuration/own": {
    what: "OIDC, lifetimes of certificates, flags of the other components, `nodePortAddresses` of kube-proxy",
    proofs: [lab("all/kubernetes/own")],
    note: "several control planes: graph",
  },
  "configuration/hardened": {
    what: "`kubernetes.hardened` from the first `up` and on a living cluster; Secrets encrypted in etcd",
    proofs: [lab("all/kubernetes/hardening")],
  },
  "configuration/keystone": {
    what: "users of Keystone, with RBAC and with rules of their own",
    proofs: [lab("all/addons/keystone-auth")],
  },
  "configuration/kubeadm-timeouts": {
    what: "a machine so slow that kubeadm's default timeouts do not suffice",
  },
} as const satisfies Readonly<Record<string, Row>>;

export const pulumiPluginRows = {
  "plugins/openstack-official": {
    what: "the official OpenStack plugin",
    proofs: [lab("life")],
    plugin: { name: "openstack", origin: "official" },
    note: "taken where it is installed; its schema is compared with the built one's",
  },
  "plugins/openstack-built": {
    what: "the OpenStack plugin built here of the Terraform provider behind the official one",
    proofs: [lab("life")],
    plugin: { name: "openstack", origin: "built" },
  },
  "plugins/kubernetes-official": {
    what: "the official Kubernetes plugin",
    proofs: [lab("life")],
    plugin: { name: "kubernetes", origin: "official" },
    note: "taken where it is installed",
  },
  "plugins/kubernetes-stand-in": {
    what: "this project's stand-in for the Kubernetes plugin",
    proofs: [lab("life")],
    plugin: { name: "kubernetes", origin: "stand-in" },
  },
  "plugins/command-official": {
    what: "the official command plugin",
    proofs: [lab("life")],
    plugin: { name: "command", origin: "official" },
    note: "taken where it is installed",
  },
  "plugins/command-stand-in": {
    what: "this project's stand-in for the command plugin",
    proofs: [lab("life")],
    plugin: { name: "command", origin: "stand-in" },
  },
  "plugins/nodejs-official": {
    what: "Pulumi's own Node.js language host",
    proofs: [lab("life")],
    plugin: { name: "nodejs", origin: "official" },
    note: "taken where it is installed",
  },
  "plugins/nodejs-stand-in": {
    what: "this project's stand-in for the language host",
    proofs: [lab("life")],
    plugin: { name: "nodejs", origin: "stand-in" },
  },
  "plugins/library": {
    what: "the packed package as a library, brought up by plain `pulumi`",
    proofs: [example("ha-kube-router")],
  },
} as const satisfies Readonly<Record<string, Row>>;
