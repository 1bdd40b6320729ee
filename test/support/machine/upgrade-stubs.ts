/** Simulates a machine that runs Kubernetes 1.35.4. A stub of apt replaces its packages. */
import type { Sandbox } from "./sandbox.js";

/** Returns scripts with waits that are short enough for a test. */
export const shortBounds = (scripts: readonly string[]): string[] =>
  scripts.map((text) =>
    text
      .replace(
        "stable_seconds=5 start_seconds=180 restore_seconds=240",
        "stable_seconds=0 start_seconds=1 restore_seconds=1",
      )
      .replaceAll(/poll (60|120|300) /g, "poll 1 "),
  );

const version = (program: string): string =>
  `IFS= read -r version <$root/${program}-version; echo "$version"`;

/**
 * Makes the sandbox simulate a machine that runs the former version. The stub of apt records the
 * installed version, and the stubs of the programs then report this version.
 */
export function installFormerVersion(machine: Sandbox, done: "init" | "join" | "etcd"): void {
  machine.put(`var/lib/stackadm/${done}.done`);
  machine.put("var/lib/stackadm/kept-version", "1.35.4");
  machine.put("kubeadm-version", "v1.35.4\n");
  machine.put("kubelet-version", "Kubernetes v1.35.4\n");
  machine.put("etc/containerd/config.toml", 'a\n  sandbox = "r/pause:3.9"\nb\n');
  machine.put("var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\n");
  machine.put("etc/kubernetes/kubelet.conf");
  machine.put("etc/kubernetes/tmp/kubeadm-backup-etcd-2026/db", "data");
  machine.stub("kubelet", version("kubelet"));
  machine.stub(
    "apt-cache",
    'case $2 in kubernetes-cni) echo " $2 | 1.9.1-1.1 | x" ;; *) echo " $2 | 1.36.3-1.1 | x"; echo " $2 | 1.36.0-1.1 | x" ;; esac',
  );
  machine.stub(
    "apt-get",
    'case "$*" in *--download-only*) ;; *install*) for word; do case $word in kubeadm=*) echo v1.36.3 >$root/kubeadm-version ;; kubelet=*) echo Kubernetes v1.36.3 >$root/kubelet-version ;; esac; done ;; esac',
  );
  machine.stub("apt-mark", "exit 0");
  machine.stub("dpkg-query", "exit 0");
  machine.stub("curl", "printf ok");
  machine.stub(
    "journalctl",
    'echo "E1122 10:00:00.000000 1 run.go:74] \\"command failed\\" err=\\"bad\\""',
  );
  machine.stub("crictl", "exit 0");
  machine.stub("cksum", 'exec /usr/bin/cksum "$@"');
}

/**
 * Returns a stub of kubeadm that reports its own version and images. `more` contains further cases.
 */
export const kubeadmOf = (...more: readonly string[]): string =>
  [
    'case "$*" in',
    `"version"*) ${version("kubeadm")} ;;`,
    '"config images list"*) printf "r/%s\\n" kube-apiserver:v1.36.3 etcd:3.6.8-0 pause:3.10.2 ;;',
    ...more,
    "esac",
  ].join("\n");

/** Case of kubectl for the machine's own node. It reports the version of the installed kubelet. */
export const ownNode = `*"get node dev-"*kubeletVersion*) IFS= read -r said <$root/kubelet-version; printf '%s True' "\${said#Kubernetes }" ;;`;
