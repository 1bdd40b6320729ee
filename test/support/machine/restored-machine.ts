/** Simulates a control plane whose etcd is restored, for tests of restore.sh. */
import { strict as assert } from "node:assert";
import { restoreScript } from "../../../automation/backup/machine-programs.js";
import { Sandbox } from "./sandbox.js";

export const url = "https://10.0.0.10:2380";
export const etcdManifest = `
spec:
  containers:
  - command:
    - etcd
    - --initial-advertise-peer-urls=${url}
    - --name=dev-control-plane-0
    image: registry.k8s.io/etcd:3.6.8-0
`;
export const apiManifest = `
    - kube-apiserver
    - --advertise-address=10.0.0.10
`;
export const manifests = "etc/kubernetes/manifests";
/** File that exists on every prepared machine. */
export const guard = "etc/systemd/system/kubelet.service.d/20-stackadm-guard.conf";

/** Stubs of the commands of this machine. A container seems to run if its manifest exists. */
export const commands = {
  hostname: "echo dev-control-plane-0",
  crictl: `case "$*" in
    *"ps --quiet"*etcd*) if [ -e /etc/kubernetes/manifests/etcd.yaml ]; then echo e7cd; fi ;;
    *"ps --quiet"*kube-apiserver*) if [ -e /etc/kubernetes/manifests/kube-apiserver.yaml ]; then echo a41; fi ;;
    *"ps --quiet"*controller-manager*) echo c0; echo 5c ;;
    *"member list"*) printf '%s\\n' '1, started, dev-control-plane-0, ${url}, https://10.0.0.10:2379, false' '2, started, b, https://10.0.0.11:2380, x, false' ;;
    esac`,
  kubelet: ":",
  ctr: `case "$*" in *"images mount"*)
    for last; do :; done
    mkdir -p "$last/usr/local/bin"
    printf '%s\\n' '#!/bin/bash' 'echo "etcdutl $*" >>'"$root/calls" 'if [[ $2 == status ]]; then echo "{\\"hash\\":1,\\"revision\\":4711,\\"totalKey\\":9}"; fi' 'while (($#)); do if [[ $1 == --data-dir ]]; then mkdir -p "$2/member"; echo NEW >"$2/member/db"; fi; shift; done' >"$last/usr/local/bin/etcdutl"
    chmod 755 "$last/usr/local/bin/etcdutl" ;; esac`,
  df: 'echo Avail; cat "$root/free"',
  // Simulates `tar -xpzf FILE -C DIRECTORY`.
  tar: `/usr/bin/mkdir -p "$4/etc/kubernetes/manifests" "$4/etc/kubernetes/pki" "$4/var/lib/stackadm" "$4/var/lib/kubelet"
    echo ETCD >"$4/etc/kubernetes/manifests/etcd.yaml"; echo API >"$4/etc/kubernetes/manifests/kube-apiserver.yaml"
    echo KEY >"$4/etc/kubernetes/pki/ca.key"; echo OTHER >"$4/etc/kubernetes/manifests/kube-scheduler.yaml"
    touch "$4/var/lib/stackadm/init.done" "$4/var/lib/stackadm/kept-version"
    printf '127.0.0.1 other\\n10.0.0.10 api.dev.internal # stackadm\\n' >"$4/etc/hosts"
    echo '--provider-id=openstack:///0f' >"$4/var/lib/kubelet/kubeadm-flags.env"`,
  cp: '[ ! -e "$root/full" ] || case "$2" in */kubernetes/*) exit 1 ;; esac; exec /bin/cp "$@"',
  sync: ":",
  systemctl: 'case "$*" in *is-active*) [ -e "$root/busy" ] ;; esac',
  rmdir: 'exec /usr/bin/rmdir "$@"',
  kubectl: `case "$*" in
    *readyz*) printf ok ;;
    *providerID*) if [ -e $root/deleted ]; then cat $root/own; else cat $root/known; fi ;;
    *taints*) cat $root/taints ;;
    *"delete node"*) touch $root/deleted ;; esac`,
};

/** Returns a running control plane. Its node has the provider ID of its server. */
export function restoredMachine(): Sandbox {
  const machine = new Sandbox(commands);
  machine.put("free", "1000000000");
  machine.put(`${manifests}/etcd.yaml`, etcdManifest);
  machine.put(`${manifests}/kube-apiserver.yaml`, apiManifest);
  machine.put("etc/kubernetes/pki/etcd/ca.key");
  machine.put("var/lib/stackadm/init.done");
  machine.put("var/lib/etcd/member/db", "OLD");
  machine.put(guard);
  for (const name of ["known", "own"]) machine.put(name, "openstack:///0a");
  machine.put("taints", "node-role.kubernetes.io/control-plane");
  machine.put(
    "var/lib/kubelet/kubeadm-flags.env",
    'KUBELET_KUBEADM_ARGS="--provider-id=openstack:///0a"',
  );
  return machine;
}

/** Returns the reason that the script printed. */
export const reasonIn = (stderr: string): string => /reason: (.*)/.exec(stderr)?.[1] ?? "";

/**
 * Returns functions that run a step of restore.sh on the machine of the current test, with a
 * snapshot on standard input. `well` requires that the step succeeds.
 */
export function stepsOn(machine: () => Sandbox) {
  const does = (...words: string[]) => machine().feed("SNAPSHOT", restoreScript, ...words);
  const well = (...words: string[]) => {
    const done = does(...words);
    assert.equal(done.code, 0, done.stderr);
    return done;
  };
  return { does, well };
}
