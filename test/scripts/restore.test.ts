import { strict as assert } from "node:assert";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { restoreScript } from "../../automation/backup/machines.js";
import {
  apiManifest,
  commands,
  etcdManifest,
  manifests,
  url,
} from "../support/restored-machine.js";
import { Sandbox } from "../support/sandbox.js";

describe("restore.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(commands);
    machine.put("free", "1000000000");
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
    it("knows a control plane, and whom its etcd knows; also when it is stopped half-way", () => {
      const peers = ["https://10.0.0.10:2380", "https://10.0.0.11:2380"];
      assert.deepEqual(look(), { ...controlPlane, live: true, peers });
      well("stop");
      assert.deepEqual(look(), { ...controlPlane, live: false, peers: [] });
    });

    it("knows a machine that was made anew, and one that is not prepared", () => {
      machine.close();
      machine = new Sandbox(commands);
      const empty = { place: false, live: false, etcd: false, apiServer: false, peers: [] };
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
    machine.put("free", "200000000");
    machine.put("var/lib/etcd/stackadm-next/member/db", "of an earlier run");
    assert.match(reason(load().stderr), /has 190 MiB left, and 257 are needed beside the data/);
    // It would count against itself.
    assert.ok(!has("var/lib/etcd/stackadm-next"));
    machine.put("free", "1000000000");
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

  it("does nothing beside a kubeadm that is at work", () => {
    machine.put("busy");
    for (const outcome of [load(), does("stop")])
      assert.match(reason(outcome.stderr), /^kubeadm is still at work on dev-control-plane-0/);
    assert.ok(has(`${manifests}/etcd.yaml`));
  });

  it("does not swap the data of an etcd that somebody started again", () => {
    load();
    well("stop");
    machine.put(`${manifests}/etcd.yaml`, etcdManifest);
    assert.match(reason(does("swap").stderr), /^etcd on dev-control-plane-0 runs again/);
    assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
  });

  it("takes away what was made ready and is not to be used", () => {
    load();
    well("tidy");
    assert.ok(!has("var/lib/etcd/stackadm-next"));
  });

  it("does not touch the data of an etcd that does not stop", () => {
    load();
    machine.stub("crictl", "echo e7cd");
    const { code, stderr, calls } = does("stop");
    assert.equal(code, 1);
    assert.equal(reason(stderr), "kube-apiserver on dev-control-plane-0 does not stop");
    // Not kubelet alone was asked to.
    assert.ok(calls.includes("crictl stop e7cd"));
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
      "delete node dev-control-plane-0 --ignore-not-found --wait=false",
      "taint node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=:NoSchedule",
      "label node dev-control-plane-0 --overwrite node.kubernetes.io/exclude-from-external-load-balancers=",
      "label node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=",
    ]);
  });

  it("marks a node that came after the backup", () => {
    machine.stub(
      "kubectl",
      `case "$*" in *readyz*) printf ok ;;
        *providerID*) if [ -e $root/seen ]; then cat $root/own; else touch $root/seen; fi ;; esac`,
    );
    assert.deepEqual(marked().slice(0, 1), [
      "taint node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=:NoSchedule",
    ]);
  });

  it("says when the node cannot be renewed, and is well all the same", () => {
    machine.put("known", "openstack:///0f");
    machine.stub(
      "kubectl",
      'case "$*" in *readyz*) printf ok ;; *providerID*) cat $root/known ;; *) exit 1 ;; esac',
    );
    assert.match(well("start-api").stdout, /^note: the node dev-control-plane-0 is not what its/);
  });

  it("remembers less than the cluster may have lost, so that the next up looks", () => {
    for (const name of ["kept-version", "kept-kubelet", "kept-patches", "schedulable"])
      machine.put(`var/lib/stackadm/${name}`, "as it is");
    well("start-api");
    const kept = (name: string) => machine.file(`var/lib/stackadm/${name}`);
    assert.deepEqual(
      ["kept-version", "kept-kubelet", "kept-patches", "kept-proxy", "schedulable"].map(kept),
      [undefined, "not finished", "as it is", undefined, undefined],
    );
  });

  it("tells which nodes there are, and lets one go", () => {
    assert.match(well("nodes").calls.join(), /get nodes -o jsonpath/);
    assert.match(well("forget-node", "dev-general-0").calls.join(), /delete node dev-general-0/);
    assert.deepEqual(well("register").calls, ["systemctl restart kubelet"]);
  });

  it("gives no taint to a control plane on which pods of users may run", () => {
    machine.put("taints", "");
    assert.deepEqual(marked(), [
      "delete node dev-control-plane-0 --ignore-not-found --wait=false",
      "label node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=",
    ]);
  });

  describe("unpack", () => {
    beforeEach(() => {
      machine.close();
      machine = new Sandbox(commands);
      machine.put("var/lib/cloud/data/instance-id", "0b1c");
      machine.put("etc/hosts", "127.0.0.1 localhost\n");
    });

    it("gives a machine that was made anew its place and its own ID; etcd and API server wait", () => {
      well("unpack");
      assert.match(machine.file("var/lib/kubelet/kubeadm-flags.env") ?? "", /openstack:\/\/\/0b1c/);
      assert.equal(machine.file("etc/kubernetes/pki/ca.key"), "KEY\n");
      assert.ok(has(`${manifests}/kube-scheduler.yaml`));
      const hosts = "127.0.0.1 localhost\n10.0.0.10 api.dev.internal # stackadm\n";
      assert.equal(machine.file("etc/hosts"), hosts);
      assert.ok(!has(`${manifests}/etcd.yaml`) && !has(`${manifests}/kube-apiserver.yaml`));
      const { place, live, etcd, apiServer } = look() as Record<string, unknown>;
      assert.deepEqual(
        { place, live, etcd, apiServer },
        {
          ...{ place: true, live: false, etcd: true, apiServer: true },
        },
      );
      assert.ok(!has("var/lib/stackadm/restore-archive.tgz"));
      assert.ok(!has("var/lib/stackadm/restore-unpacked"));
    });

    it("is done again where it was broken off: what tells the place comes last", () => {
      machine.put("full");
      assert.notEqual(does("unpack").code, 0);
      assert.equal((look() as Record<string, unknown>)["place"], false);
      rmSync(join(machine.root, "full"));
      well("unpack");
      assert.equal((look() as Record<string, unknown>)["place"], true);
    });
  });

  it("knows no other word", () => {
    assert.equal(does("everything").code, 64);
  });
});
