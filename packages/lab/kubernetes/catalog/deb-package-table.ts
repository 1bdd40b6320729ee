/** Deb package for nodes, under its name in Kubernetes' or Docker's own repository. */
export interface DebPackage {
  readonly name: string;
  readonly summary: string;
  readonly depends: readonly string[];
  /** Packages that this package replaces: Provides, Conflicts and Replaces. */
  readonly instead?: readonly string[];
  /** Programs: path on the node -> `component/program`. Mode 0755. */
  readonly programs: Readonly<Record<string, string>>;
  /** Files. A map from a path on the node to a file in `packages/`. Mode 0644. */
  readonly files?: Readonly<Record<string, string>>;
  /**
   * Whether the package contains a systemd unit that the maintainer scripts enable and start.
   * @default false
   */
  readonly unit?: boolean;
  /**
   * Debian revision of an earlier build with the same content, in the component `test` of Docker's
   * repository. @default no earlier build
   */
  readonly earlierRevision?: string;
}

const units = "/usr/lib/systemd/system";
const cniDirectory = "/opt/cni/bin";
const cniPlugins = [
  ...["bridge", "loopback", "ptp", "host-device", "host-local", "static"],
  ...["portmap", "bandwidth", "firewall", "tuning"],
];

/** Packages of the apt repositories. */
export const debPackages: readonly DebPackage[] = [
  {
    name: "kubeadm",
    summary: "Command-line utility for administering a Kubernetes cluster",
    depends: ["cri-tools (>= 1.30.0)"],
    programs: { "/usr/bin/kubeadm": "kubernetes/kubeadm" },
    files: { [`${units}/kubelet.service.d/10-kubeadm.conf`]: "10-kubeadm.conf" },
  },
  {
    name: "kubelet",
    summary: "Node agent for Kubernetes clusters",
    depends: [
      ...["iptables (>= 1.4.21)", "kubernetes-cni (>= 1.2.0)", "iproute2", "socat", "util-linux"],
      ...["mount", "ebtables", "ethtool", "conntrack"],
    ],
    programs: { "/usr/bin/kubelet": "kubernetes/kubelet" },
    files: { [`${units}/kubelet.service`]: "kubelet.service" },
    unit: true,
  },
  {
    name: "kubectl",
    summary: "Command-line utility for interacting with a Kubernetes cluster",
    depends: [],
    programs: { "/usr/bin/kubectl": "kubernetes/kubectl" },
  },
  {
    name: "cri-tools",
    summary: "Command-line utility for interacting with a container runtime",
    depends: [],
    programs: { "/usr/bin/crictl": "cri-tools/crictl" },
  },
  {
    name: "kubernetes-cni",
    summary: "Binaries required to provision kubernetes container networking",
    depends: [],
    programs: Object.fromEntries(
      cniPlugins.map((name) => [`${cniDirectory}/${name}`, `cni-plugins/${name}`]),
    ),
  },
  {
    name: "containerd.io",
    summary: "An open and reliable container runtime",
    depends: ["runc"],
    instead: ["containerd"],
    programs: Object.fromEntries(
      ["containerd", "containerd-shim-runc-v2", "ctr"].map((name) => [
        `/usr/bin/${name}`,
        `containerd/${name}`,
      ]),
    ),
    files: { [`${units}/containerd.service`]: "containerd.service" },
    unit: true,
    earlierRevision: "0",
  },
];

/** Packages in Docker's repository. All other packages are in Kubernetes' repository. */
export const dockerPackages: readonly string[] = ["containerd.io"];

/**
 * Renders the control file of a package (deb-control(5)).
 *
 * @param installedKiB total size of the package's files
 */
export function renderControl(
  debPackage: DebPackage,
  version: string,
  installedKiB: number,
): string {
  const list = (name: string, values: readonly string[] = []): string[] =>
    values.length === 0 ? [] : [`${name}: ${values.join(", ")}`];
  return [
    `Package: ${debPackage.name}`,
    `Version: ${version}`,
    "Architecture: amd64",
    "Maintainer: stackadm lab <lab@stackadm.test>",
    "Section: admin",
    "Priority: optional",
    `Installed-Size: ${installedKiB}`,
    ...list("Depends", debPackage.depends),
    ...list("Provides", debPackage.instead),
    ...list("Conflicts", debPackage.instead),
    ...list("Replaces", debPackage.instead),
    `Description: ${debPackage.summary}`,
    " Built by the stackadm lab from upstream's Go modules; not upstream's own package.",
    "",
  ].join("\n");
}

/**
 * Returns a package version that begins with a series such as 1.35, because machines install a
 * series. An upstream version of another series follows after `+really`, as in Debian.
 */
export function getSeriesVersion(series: string, upstream: string): string {
  return upstream.startsWith(`${series}.`) ? upstream : `${series}.0+really${upstream}`;
}

/** Returns the version of the package's earlier build: "2.3.7-0" for "2.3.7-1". */
export const getEarlierVersion = (version: string, revision: string): string =>
  version.replace(/-[^-]*$/, `-${revision}`);

/** Returns the name of a package's file: `kubeadm_1.36.3-1.1_amd64.deb`. */
export function getDebFileName(name: string, version: string): string {
  return `${name}_${version}_amd64.deb`;
}
