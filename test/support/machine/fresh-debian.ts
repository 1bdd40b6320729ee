import assert from "node:assert/strict";
import { parseClusterSpec } from "../../../components/config/cluster-spec.js";
import { getPreparationValues } from "../../../components/machine/preparation.js";
import { smallest } from "../config/spec.js";

const fingerprint = "DE15B14486CD377B9E876E1A234654DA9A296436";

/**
 * Returns a stub of curl. With `--head`, the stub prints the current time as a `Date` header.
 * Otherwise, it writes the output of `command` to the file in `--output`.
 */
export const answering = (command: string): string =>
  `case "$*" in *--head*) /bin/date -u "+Date: %a, %d %b %Y %T GMT"; exit ;; esac; file=/dev/stdout; for word; do [ "\${last-}" != --output ] || file=$word; last=$word; done; { ${command}\n} >"$file"`;

const installed = (command: string, answer: string): string =>
  `[ -e $root/installed ] || exit 127; ${answer} # ${command}`;
/** Stub of iptables. `$root/rules` contains one rule per line. */
const tables =
  'rule=$*; rule=${rule#-w 60 -t mangle -? }; case "$*" in *" -C "*) IFS= read -rd "" rules <$root/rules; [[ $\'\\n\'$rules == *$\'\\n\'"$rule"$\'\\n\'* ]] ;; *" -I "*) echo "$rule" >>$root/rules ;; *) exit 2 ;; esac';

/**
 * Stubs of the commands of a new Debian system. The commands of Kubernetes fail until their
 * packages are installed.
 */
export const freshDebian: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  "cloud-init": "exit 0",
  kubeadm: installed(
    "kubeadm",
    'case "$*" in *images*) printf "r/%s\\n" kube-apiserver:v1 kube-proxy:v1 pause:3.10 etcd:3 ;; *version*) echo v1.36.3 ;; esac',
  ),
  kubelet: installed("kubelet", "echo Kubernetes v1.36.3"),
  containerd: installed("containerd", "echo containerd containerd.io v2.3.7 abc"),
  crictl: installed("crictl", "exit 0"),
  systemctl: 'case "$*" in *ActiveState*) echo inactive ;; esac',
  "systemd-run": "exit 0",
  "systemd-detect-virt": "exit 1",
  modprobe: "exit 0",
  sysctl: "echo 1",
  swapoff: "exit 0",
  getent: "echo debian:x:1000:1000::/var/home/debian:/bin/bash",
  chown: "exit 0",
  curl: answering("echo KEY"),
  "update-ca-certificates": "exit 0",
  gpg: `case "$*" in *--show-keys*) echo pub; echo fpr:::::::::${fingerprint}: ;; *--export*) echo PINNED ;; esac`,
  "apt-get":
    'case "$*" in *install*) touch $root/installed; mkdir -p /opt/cni/bin; touch /opt/cni/bin/loopback; chmod +x /opt/cni/bin/loopback ;; esac',
  dpkg: "exit 0",
  // The newest version is first, as in the output of apt-cache.
  "apt-cache": [
    'case "$2" in',
    "  containerd.io) builds='5:3.0.0-1 2.2.1-1~debian.12~bookworm 2.2.0-1~debian.12~bookworm 1.7.28-1' ;;",
    "  kubernetes-cni) builds='10.0.0-1.1 1.9.1-1.1 1.8.0-1.1' ;;",
    "  cri-tools) builds='1.37.0-1.1 1.36.0-1.1 1.35.0-1.1' ;;",
    "  *) builds='1.36.30-1.1 1.36.3~rc.1-1.1 1.36.3-2.1 1.36.3-1.1' ;;",
    "esac",
    'for build in $builds; do echo " $2 | $build | x"; done',
  ].join("\n"),
  "apt-mark": 'case "$1" in hold) touch $root/held ;; esac',
  "dpkg-query":
    'case "$*" in *Version*containerd.io*) echo "installed containerd.io 2.2.0-1~debian.12~bookworm"; exit ;; *Version*) exit 1 ;; esac; want=install; [ ! -e $root/held ] || want=hold; for name in kubeadm kubelet kubectl cri-tools kubernetes-cni containerd.io; do echo "$want installed $name"; done; echo "deinstall config-files containerd"; exit 1',
  iptables: tables,
  ip6tables: tables.replaceAll("$root/rules", "$root/rules6"),
  ip: "exit 0",
  xargs: "exit 0",
};

/** Returns the values of prepare.sh for a worker of the smallest cluster. */
export function workerValues(over: object = {}): Record<string, string> {
  const result = parseClusterSpec({ ...smallest, ...over });
  assert.ok("spec" in result);
  const ofMachine = { VOLUMES: "", ADMIN_ADDRESS: "", CLOUD_AUTHORITY: "" };
  return {
    ...getPreparationValues(result.spec, "worker"),
    ...ofMachine,
    REGISTRY_AUTH: "",
    PROXY: "",
  };
}
