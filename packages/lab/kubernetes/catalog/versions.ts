import { Failure } from "../../../../base/failures/failure.js";
import { getImageTags, type AddonImageName } from "../../../../base/versions/container-images.js";
import {
  defaultKubernetesVersion,
  kubernetesMinors,
  getMinorVersion,
  type KubernetesMinor,
} from "../../../../base/versions/pinned-versions.js";
import type { Component, ModuleSource, ProgramSource, KubernetesRelease } from "./component.js";
import { builtAgnhostVersion, listImages } from "./images.js";
import { getSeriesVersion } from "./deb-package-table.js";

export const supportedKubernetesVersions: readonly string[] = Object.values(kubernetesMinors).map(
  ({ version }) => version,
);

/**
 * Oldest version of Go that builds everything: the version that containerd and the newest
 * Kubernetes require.
 */
export const minimumGo = "1.26.0";

/** Go module of Kubernetes. Other components use the versions of its dependencies. */
export const kubernetesModule = "k8s.io/kubernetes";

/*
 * Releases of the packages that machines install from a series (`packageSeries`). All Kubernetes
 * minors use the same releases, because these modules do not depend on Kubernetes. So each package
 * is built once.
 */
const containerd = "v2.3.7";
const criTools = "v1.36.0";
const cniPlugins = "v1.9.1";

function kubernetesLink(version: string): Record<string, string> {
  const [major = "", minor = ""] = version.split(".");
  const at = "k8s.io/component-base/version";
  return {
    [`${at}.gitVersion`]: `v${version}`,
    [`${at}.gitMajor`]: major,
    [`${at}.gitMinor`]: minor,
    [`${at}.gitTreeState`]: "clean",
  };
}

/** Returns the programs `cmd/<name>` of a module, under the same names. */
function commands(prefix: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `${prefix}/${name}`]));
}

const kubernetesSource = (version: string): ModuleSource => ({
  kind: "module",
  module: kubernetesModule,
  moduleVersion: `v${version}`,
  sharedWith: version,
});

/**
 * Returns a copy of a Go module with the dependencies of the default Kubernetes version. Go then
 * compiles the module once for all Kubernetes versions.
 */
export const defineModuleSource = (
  name: string,
  replace?: ModuleSource["replace"],
): ModuleSource => ({
  kind: "module",
  module: name,
  sharedWith: defaultKubernetesVersion,
  ...(replace && { replace }),
});

/**
 * Returns one of the lab's own programs.
 *
 * @param require modules in addition to the shared modules: `path version`
 */
const program = (directory: string, require: readonly string[] = []): ProgramSource => ({
  kind: "program",
  directory,
  require,
  sharedWith: defaultKubernetesVersion,
});

function nodeComponents(version: string): Component[] {
  const containerdModule = "github.com/containerd/containerd/v2";
  const cniModule = "github.com/containernetworking/plugins";
  return [
    {
      name: "kubernetes",
      version: `v${version}`,
      source: kubernetesSource(version),
      programs: commands("k8s.io/kubernetes/cmd", [
        ...["kubeadm", "kubelet", "kubectl", "kube-apiserver"],
        ...["kube-controller-manager", "kube-scheduler", "kube-proxy"],
      ]),
      link: kubernetesLink(version),
      expectedSeconds: 300,
    },
    {
      name: "containerd",
      version: containerd,
      // Does not share versions, because containerd needs later modules than Kubernetes.
      source: { kind: "module", module: containerdModule },
      programs: commands(`${containerdModule}/cmd`, [
        "containerd",
        "containerd-shim-runc-v2",
        "ctr",
      ]),
      tags: ["no_btrfs", "no_zfs", "no_devmapper", "no_aufs"],
      link: { [`${containerdModule}/version.Version`]: containerd },
      expectedSeconds: 65,
      deviation: "without the btrfs, zfs, devmapper and aufs snapshotters",
    },
    {
      name: "cri-tools",
      version: criTools,
      source: defineModuleSource("sigs.k8s.io/cri-tools"),
      programs: commands("sigs.k8s.io/cri-tools/cmd", ["crictl"]),
      link: { "sigs.k8s.io/cri-tools/pkg/version.Version": criTools },
      expectedSeconds: 40,
      deviation: "the same crictl for every Kubernetes minor; without critest",
    },
    {
      name: "cni-plugins",
      version: cniPlugins,
      source: defineModuleSource(cniModule),
      programs: {
        ...commands(`${cniModule}/plugins/main`, ["bridge", "loopback", "ptp", "host-device"]),
        ...commands(`${cniModule}/plugins/ipam`, ["host-local", "static"]),
        ...commands(`${cniModule}/plugins/meta`, ["portmap", "bandwidth", "firewall", "tuning"]),
      },
      link: { [`${cniModule}/pkg/utils/buildversion.BuildVersion`]: cniPlugins },
      expectedSeconds: 15,
      deviation: "ten of the plugins: no dhcp, dummy, ipvlan, macvlan, sbr, tap, vlan, vrf",
    },
  ];
}

function controlPlaneComponents(minor: KubernetesMinor): Component[] {
  const etcd = (name: string, part: string): Component => ({
    name,
    version: minor.etcd,
    source: defineModuleSource(`go.etcd.io/etcd/${part}/v3`),
    programs: { [name]: `go.etcd.io/etcd/${part}/v3` },
    expectedSeconds: part === "server" ? 50 : 5,
  });
  return [
    {
      name: "pause",
      version: minor.pause,
      source: {
        kind: "c",
        module: "k8s.io/kubernetes",
        moduleVersion: `v${minor.version}`,
        file: "build/pause/linux/pause.c",
      },
      programs: { pause: "" },
      expectedSeconds: 2,
    },
    etcd("etcd", "server"),
    etcd("etcdctl", "etcdctl"),
    etcd("etcdutl", "etcdutl"),
    {
      name: "coredns",
      version: minor.coredns,
      source: defineModuleSource("github.com/coredns/coredns"),
      programs: { coredns: "github.com/coredns/coredns" },
      expectedSeconds: 100,
    },
  ];
}

type Tags = Readonly<Record<AddonImageName, string>>;

export function listPodNetworkComponents(tags: Tags): Component[] {
  const router = "github.com/cloudnativelabs/kube-router/v2";
  const flannel = "github.com/flannel-io/flannel";
  return [
    {
      name: "kube-router",
      version: tags.kubeRouter,
      source: defineModuleSource(router),
      programs: commands(`${router}/cmd`, ["kube-router"]),
      link: { [`${router}/pkg/version.Version`]: tags.kubeRouter },
      expectedSeconds: 70,
    },
    {
      name: "flannel",
      version: tags.flannel,
      source: defineModuleSource(flannel),
      programs: { flanneld: flannel },
      link: { [`${flannel}/pkg/version.Version`]: tags.flannel },
      cgo: true,
      // With these tags, packages use no C code, as in all other components.
      tags: ["netgo", "osusergo"],
      expectedSeconds: 60,
    },
    {
      name: "flannel-cni-plugin",
      // The rest of the tag is the version of flannel, not of the plugin.
      version: tags.flannelCniPlugin.replace(/-.*$/, ""),
      source: program("flannel-cni-plugin", ["github.com/containernetworking/cni v1.3.0"]),
      programs: { flannel: "." },
      expectedSeconds: 5,
      deviation: "the lab's own program: upstream's is not published as a Go module",
    },
  ];
}

function agnhostComponent({ agnhost: asked }: Pick<Tags, "agnhost">): Component {
  const { tag, kubernetes } = builtAgnhostVersion;
  return {
    name: "agnhost",
    version: tag,
    source: kubernetesSource(kubernetes),
    programs: { agnhost: "k8s.io/kubernetes/test/images/agnhost" },
    expectedSeconds: 60,
    deviation: `agnhost ${tag} of Kubernetes v${kubernetes}, also under the tag ${asked}`,
  };
}

/**
 * Modules that the CSI sidecars need in other versions than those of Kubernetes. All other modules
 * of the sidecars have the versions that Kubernetes uses.
 */
export const sidecarModules = {
  "github.com/kubernetes-csi/csi-lib-utils": "github.com/kubernetes-csi/csi-lib-utils v0.24.0",
  "sigs.k8s.io/gateway-api": "sigs.k8s.io/gateway-api v1.4.1",
};

function cloudComponents(kubernetes: string, tags: Tags): Component[] {
  const version = tags.cloudControllerManager;
  const cloudProvider = "k8s.io/cloud-provider-openstack";
  const csi = "github.com/kubernetes-csi";
  const sidecar = (name: string, path: string, sidecarVersion: string): Component => ({
    name: `csi-${name}`,
    version: sidecarVersion,
    source: defineModuleSource(path, sidecarModules),
    programs: commands(`${path}/cmd`, [`csi-${name}`]),
    link: { "main.version": sidecarVersion },
    expectedSeconds: 50,
  });
  return [
    {
      name: "cloud-provider-openstack",
      version,
      source: { ...defineModuleSource(cloudProvider), sharedWith: kubernetes },
      programs: commands(`${cloudProvider}/cmd`, [
        "openstack-cloud-controller-manager",
        "cinder-csi-plugin",
      ]),
      link: {
        "k8s.io/component-base/version.gitVersion": version,
        [`${cloudProvider}/pkg/version.Version`]: version,
      },
      expectedSeconds: 120,
    },
    sidecar("attacher", `${csi}/external-attacher/v4`, tags.csiAttacher),
    sidecar("provisioner", `${csi}/external-provisioner/v5`, tags.csiProvisioner),
    sidecar("resizer", `${csi}/external-resizer`, tags.csiResizer),
    {
      name: "csi-node-driver-registrar",
      version: tags.csiNodeDriverRegistrar,
      source: program("node-driver-registrar"),
      programs: { "csi-node-driver-registrar": "." },
      expectedSeconds: 10,
      deviation: "the lab's own program: upstream's is not published as a Go module",
    },
    {
      name: "livenessprobe",
      version: tags.livenessProbe,
      source: program("livenessprobe"),
      programs: { livenessprobe: "." },
      expectedSeconds: 10,
      deviation: "the lab's own program: upstream's is not published as a Go module",
    },
    agnhostComponent(tags),
  ];
}

/**
 * Returns everything that is built for a Kubernetes version. Throws a Failure if the version is not
 * one of `supportedKubernetesVersions`.
 */
export function getKubernetesRelease(version: string): KubernetesRelease {
  const minor = kubernetesMinors[getMinorVersion(version)];
  if (minor?.version !== version) {
    throw new Failure(
      "FAILED",
      `The lab cannot build Kubernetes ${version}; it knows ${supportedKubernetesVersions.join(" and ")}.`,
      `Use --kubernetes ${defaultKubernetesVersion}.`,
    );
  }
  const tags = getImageTags(version);
  const components = [
    ...nodeComponents(version),
    ...controlPlaneComponents(minor),
    ...cloudComponents(version, tags),
    ...listPodNetworkComponents(tags),
  ];
  return {
    version,
    minor: getMinorVersion(version),
    components,
    images: listImages(minor, tags),
    packageVersions: {
      ...Object.fromEntries(
        ["kubeadm", "kubelet", "kubectl"].map((name) => [name, `${version}-1.1`]),
      ),
      "cri-tools": `${getSeriesVersion(getMinorVersion(version), criTools.slice(1))}-1.1`,
      "kubernetes-cni": `${cniPlugins.slice(1)}-1.1`,
      "containerd.io": `${containerd.slice(1)}-1`,
    },
  };
}
