import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { restoreScript } from "../../automation/backup/machines.js";
import { Sandbox } from "../support/sandbox.js";

const url = "https://10.0.0.10:2380";
const etcdManifest = `
spec:
  containers:
  - command:
    - etcd
    - --initial-advertise-peer-urls=${url}
    - --name=dev-control-plane-0
    image: registry.k8s.io/etcd:3.6.8-0
`;
const apiManifest = `
    - kube-apiserver
    - --advertise-address=10.0.0.10
`;
const manifests = "etc/kubernetes/manifests";

/** A container runs as long as kubelet has its manifest. */
const commands = {
  hostname: "echo dev-control-plane-0",
  crictl: `case "$*" in
    *"ps --quiet"*etcd*) if [ -e /etc/kubernetes/manifests/etcd.yaml ]; then echo e7cd; fi ;;
    *"ps --quiet"*kube-apiserver*) if [ -e /etc/kubernetes/manifests/kube-apiserver.yaml ]; then echo a41; fi ;;
    *"ps --quiet"*controller-manager*) echo c0; echo 5c ;;
    esac`,
  kubelet: ":",
  ctr: `case "$*" in *"images mount"*)
    for last; do :; done
    mkdir -p "$last/usr/local/bin"
    printf '%s\\n' '#!/bin/bash' 'echo "etcdutl $*" >>'"$root/calls" 'while (($#)); do if [[ $1 == --data-dir ]]; then mkdir -p "$2/member"; echo NEW >"$2/member/db"; fi; shift; done' >"$last/usr/local/bin/etcdutl"
    chmod 755 "$last/usr/local/bin/etcdutl" ;; esac`,
  df: 'echo Avail; cat "$root/free"',
  tar: ":",
  systemctl: ":",
  rmdir: 'exec /usr/bin/rmdir "$@"',
  kubectl: `case "$*" in
    *readyz*) printf ok ;;
    *providerID*) if [ -e $root/deleted ]; then cat $root/own; else cat $root/known; fi ;;
    *taints*) cat $root/taints ;;
    *"delete node"*) touch $root/deleted ;; esac`,
};

describe("restore.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(commands);
    machine.put("free", "1000000");
    machine.put(`${manifests}/etcd.yaml`, etcdManifest);
    machine.put(`${manifests}/kube-apiserver.yaml`, apiManifest);
    machine.put("etc/kubernetes/pki/etcd/ca.key");
    machine.put("var/lib/stackadm/init.done");
    machine.put("var/lib/etcd/member/db", "OLD");
    for (const name of ["known", "own"]) machine.put(name, "openstack:///0a");
    machine.put("taints", "node-role.kubernetes.io/control-plane");
    machine.put(
      "var/lib/kubelet/kubeadm-flags.env",
      'KUBELET_KUBEADM_ARGS="--provider-id=openstack:///0a"',
    );
  });
  afterEach(() => {
    machine.close();
  });
  const reason = (stderr: string): string => /reason: (.*)/.exec(stderr)?.[1] ?? "";
  const does = (...words: string[]) => machine.feed("SNAPSHOT", restoreScript, ...words);
  const well = (...words: string[]) => {
    const done = does(...words);
    assert.equal(done.code, 0, done.stderr);
    return done;
  };
  const load = (bytes = "8") => does("load", "TOKEN", `dev-control-plane-0=${url}`, bytes);
  const has = (path: string): boolean => existsSync(join(machine.root, path));
  const look = (): unknown => JSON.parse(well("look").stdout);

  describe("look", () => {
    const controlPlane = { prepared: true, place: true, etcd: true, apiServer: true };
    it("knows a control plane, also when it is stopped half-way", () => {
      assert.deepEqual(look(), controlPlane);
      well("stop");
      assert.deepEqual(look(), controlPlane);
    });

    it("knows a machine that was made anew, and one that is not prepared", () => {
      machine.close();
      machine = new Sandbox(commands);
      const empty = { place: false, etcd: false, apiServer: false };
      assert.deepEqual(look(), { prepared: true, ...empty });
      machine.close();
      machine = new Sandbox({ hostname: ":" });
      assert.deepEqual(look(), { prepared: false, ...empty });
    });
  });

  it("makes the data ready beside those of etcd, with its own image, and keeps no snapshot", () => {
    const { code, stderr, calls } = load();
    assert.equal(code, 0, stderr);
    const said = calls.find((call) => call.startsWith("etcdutl")) ?? "";
    assert.match(said, /snapshot restore .*--name dev-control-plane-0 /);
    assert.match(
      said,
      /--initial-cluster dev-control-plane-0=https:\/\/10.0.0.10:2380 --initial-cluster-token TOKEN/,
    );
    assert.match(said, /--bump-revision 1000000000 --mark-compacted/);
    assert.equal(machine.file("var/lib/etcd/stackadm-next/member/db"), "NEW\n");
    assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
    assert.ok(!has("var/lib/etcd/stackadm-next.db"));
    assert.ok(has(`${manifests}/etcd.yaml`));
    assert.ok(calls.some((call) => call.includes("images unmount --rm")));
  });

  it("makes nothing ready where the disk would be full with it, or the certificates are for another address", () => {
    machine.put("free", "20");
    assert.match(reason(load().stderr), /has 0 MiB left, and needs three times the 1 MiB/);
    machine.put("free", "1000000");
    const moved = does("load", "TOKEN", "dev-control-plane-0=https://10.0.0.99:2380", "8");
    assert.equal(moved.code, 1);
    assert.match(
      reason(moved.stderr),
      /^the certificates of dev-control-plane-0 are for https:\/\/10.0.0.10:2380/,
    );
  });

  it("swaps the data while nothing runs, keeps the former ones, and does it once", () => {
    load();
    well("stop");
    assert.ok(!has(`${manifests}/etcd.yaml`) && !has(`${manifests}/kube-apiserver.yaml`));
    well("swap");
    well("swap");
    assert.equal(machine.file("var/lib/etcd/member/db"), "NEW\n");
    const { stdout } = machine.execute(`cat /var/lib/etcd/member-before-*/db`);
    assert.equal(stdout, "OLD");
    well("start-etcd");
    well("start-api");
    assert.equal(machine.file(`${manifests}/etcd.yaml`), etcdManifest);
    assert.equal(machine.file(`${manifests}/kube-apiserver.yaml`), apiManifest);
    assert.ok(!has("var/lib/stackadm/restore"));
  });

  it("does not touch the data of an etcd that does not stop", () => {
    load();
    machine.stub("crictl", "echo e7cd");
    const { code, stderr } = does("stop");
    assert.equal(code, 1);
    assert.equal(reason(stderr), "kube-apiserver on dev-control-plane-0 does not stop");
    assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
  });

  it("lets everything forget what it had read, and leaves the node of a server that is the same", () => {
    well("stop");
    const { calls } = well("start-api");
    assert.deepEqual(
      calls.filter((call) => /^(crictl stop|systemctl restart)/.test(call)),
      ["crictl stop c0", "crictl stop 5c", "systemctl restart kubelet"],
    );
    assert.deepEqual(
      calls.filter((call) => /delete node|taint node|label node/.test(call)),
      [],
    );
    assert.ok(
      calls.some((call) => call.includes("--server https://10.0.0.10:6443 get --raw /readyz")),
    );
  });

  const marked = (): string[] => {
    machine.put("known", "openstack:///0f");
    return well("start-api").calls.flatMap(
      (call) => /(delete|taint|label) node .*/.exec(call)?.[0] ?? [],
    );
  };

  it("lets a node of another server register anew, and marks it as it was", () => {
    assert.deepEqual(marked(), [
      "delete node dev-control-plane-0 --wait=false",
      "taint node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=:NoSchedule",
      "label node dev-control-plane-0 --overwrite node.kubernetes.io/exclude-from-external-load-balancers=",
      "label node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=",
    ]);
  });

  it("gives no taint to a control plane on which pods of users may run", () => {
    machine.put("taints", "");
    assert.deepEqual(marked(), [
      "delete node dev-control-plane-0 --wait=false",
      "label node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=",
    ]);
  });

  it("gives a machine that was made anew the files of its former server, and its own ID", () => {
    machine.put("var/lib/cloud/data/instance-id", "0b1c");
    const { calls } = well("unpack");
    assert.deepEqual(
      calls.map((call) => call.replaceAll(machine.root, "")),
      [
        ...["tar -tzf /run/stackadm/archive.tgz", "systemctl stop kubelet"],
        "tar -xpzf /run/stackadm/archive.tgz -C /",
      ],
    );
    assert.equal(
      machine.file("var/lib/kubelet/kubeadm-flags.env"),
      'KUBELET_KUBEADM_ARGS="--provider-id=openstack:///0b1c"',
    );
    assert.ok(!has("run/stackadm/archive.tgz"));
  });

  it("knows no other word", () => {
    assert.equal(does("everything").code, 64);
  });
});
