export interface ContainerdSettings {
  /** Cgroup driver, which must equal the cgroup driver of kubelet. */
  readonly cgroupDriver: "systemd" | "cgroupfs";
  /**
   * Pause image. Its container holds the network namespace of a pod.
   * @default the image that kubeadm names
   */
  readonly pause?: string | undefined;
}

/**
 * Placeholder for the pause image. Each machine replaces the placeholder with the image that its
 * kubeadm names.
 */
export const pausePlaceholder = "@PAUSE@";

/**
 * Pattern of the paths of configuration files that the user may add. containerd merges these files
 * into config.toml key by key, in the order of their names. Values in these files take precedence.
 */
const ownParts = "/etc/containerd/conf.d/*.toml";

/**
 * Returns config.toml of containerd 2 (format version 3), with only those values that differ from
 * containerd's defaults.
 */
export function renderContainerdConfig({
  cgroupDriver,
  pause = pausePlaceholder,
}: ContainerdSettings): string {
  return `version = 3
imports = ["${ownParts}"]

[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "${pause}"

[plugins."io.containerd.cri.v1.images".registry]
  config_path = "/etc/containerd/certs.d"

[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = false

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  SystemdCgroup = ${String(cgroupDriver === "systemd")}
`;
}
