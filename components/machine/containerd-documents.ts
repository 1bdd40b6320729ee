export interface ContainerdSettings {
  /** Cgroup driver; must be the same as kubelet's. */
  readonly cgroupDriver: "systemd" | "cgroupfs";
  /** Pause image, which holds each pod's network. @default the image that kubeadm names */
  readonly pause?: string | undefined;
}

/** Placeholder that the machine replaces with the pause image of its own version of kubeadm. */
export const pausePlaceholder = "@PAUSE@";

/**
 * Glob of the user's own configuration files, if any. containerd merges them over this file key by
 * key, in the order of their names.
 */
const ownParts = "/etc/containerd/conf.d/*.toml";

/** Returns config.toml of containerd 2 (format version 3): only what differs from its defaults. */
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
