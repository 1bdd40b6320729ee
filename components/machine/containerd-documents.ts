export interface ContainerdSettings {
  /** Cgroup driver. Must be the cgroup driver of kubelet. */
  readonly cgroupDriver: "systemd" | "cgroupfs";
  /**
   * Pause image, whose container keeps each pod's network namespace. @default the image that
   * kubeadm names
   */
  readonly pause?: string | undefined;
}

/** Placeholder for the pause image, which the machine reads from its version of kubeadm. */
export const pausePlaceholder = "@PAUSE@";

/**
 * Pattern of the paths of the user's configuration files, if any. containerd merges these files
 * over config.toml key by key, in the order of their names.
 */
const ownParts = "/etc/containerd/conf.d/*.toml";

/**
 * Returns config.toml of containerd 2 (format version 3), with only the values that differ from
 * containerd's defaults.
 */
export function containerdConfig({
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
