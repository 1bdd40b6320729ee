export interface ContainerdSettings {
  /** Same as kubelet's. */
  readonly cgroupDriver: "systemd" | "cgroupfs";
  /** Image of what holds each pod's network. @default the one that kubeadm names */
  readonly pause?: string | undefined;
}

/** Replaced on the machine by the pause image that kubeadm of the installed version names. */
export const pausePlaceholder = "@PAUSE@";

/** Where users put parts of their own. Laid over this one key by key, in the order of their names; there may be none. */
const ownParts = "/etc/containerd/conf.d/*.toml";

/** config.toml of containerd 2 (version 3 of its format): the difference to its defaults. */
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
