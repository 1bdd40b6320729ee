import { strict as assert } from "node:assert";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  apiManifest,
  commands,
  etcdManifest,
  guard,
  manifests,
  reasonIn as reason,
  restoredMachine,
  stepsOn,
  url,
} from "../../support/machine/restored-machine.js";
import { Sandbox } from "../../support/machine/sandbox.js";

describe("restore.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = restoredMachine();
  });
  afterEach(() => {
    machine.close();
  });
  const { does, well } = stepsOn(() => machine);
  const revision = 1_800_000_000_000_000;
  const load = (bytes = "8", token = "TOKEN", behind = revision) =>
    does("load", token, `dev-control-plane-0=${url}`, bytes, String(behind));
  const has = (path: string): boolean => existsSync(join(machine.root, path));
  const look = (): unknown => JSON.parse(well("look").stdout);

  describe("look", () => {
    const controlPlane = {
      prepared: true,
      place: true,
      etcd: true,
      apiServer: true,
      majority: true,
      unpacked: "",
    };
    it("knows a control plane, and whom its etcd knows; also when it is stopped half-way", () => {
      const peers = ["https://10.0.0.10:2380", "https://10.0.0.11:2380"];
      assert.deepEqual(look(), { ...controlPlane, live: true, peers });
      well("stop");
      assert.deepEqual(look(), { ...controlPlane, live: false, majority: false, peers: [] });
    });

    it("does not take an etcd that runs and says nothing for one that knows nobody", () => {
      const silent = machine.bodyOf("crictl").replace('*"member list"*)', "*list*) exit 1 ;; *x*)");
      machine.stub("crictl", silent);
      assert.deepEqual(look(), { ...controlPlane, live: true, peers: null });
      machine.stub("crictl", "exit 1");
      assert.deepEqual(look(), { ...controlPlane, live: true, majority: false, peers: null });
    });

    it("knows a machine that was created again, and one that is not prepared", () => {
      machine.close();
      machine = new Sandbox(commands);
      const empty = {
        place: false,
        live: false,
        etcd: false,
        apiServer: false,
        majority: false,
        unpacked: "",
        peers: [],
      };
      // Installed programs alone do not make a machine prepared.
      assert.deepEqual(look(), { prepared: false, ...empty });
      machine.put(guard);
      assert.deepEqual(look(), { prepared: true, ...empty });
      machine.close();
      machine = new Sandbox({ hostname: ":" });
      assert.deepEqual(look(), { prepared: false, ...empty });
    });
  });

  it("makes the data ready beside those of etcd, with its own image, and keeps no snapshot", () => {
    const { code, stderr, calls } = load();
    assert.equal(code, 0, stderr);
    const said = calls.find((call) => call.startsWith("etcdutl snapshot restore")) ?? "";
    assert.match(said, /snapshot restore .*--name dev-control-plane-0 /);
    assert.match(
      said,
      /--initial-cluster dev-control-plane-0=https:\/\/10.0.0.10:2380 --initial-cluster-token TOKEN/,
    );
    // The snapshot's own revision is 4711.
    assert.match(said, /--bump-revision 1799999999995289 --mark-compacted/);
    assert.equal(machine.file("var/lib/etcd/stackadm-next/member/db"), "NEW\n");
    assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
    assert.ok(!has("var/lib/etcd/stackadm-next.db"));
    assert.ok(has(`${manifests}/etcd.yaml`));
    // A killed run may have left a mount of this image: unmount it first.
    assert.deepEqual(
      calls.flatMap((call) => /images (?:un)?mount/.exec(call)?.[0] ?? []),
      ["images unmount", "images mount", "images unmount"],
    );
  });

  it("goes on behind the snapshot's revisions, also by a clock that is behind them", () => {
    const { calls } = load("8", "TOKEN", 4711);
    assert.ok(calls.some((call) => call.includes("--bump-revision 1000000000 ")));
  });

  it("makes nothing ready without etcd's image, and says why it cannot be had", () => {
    const pull = "pull*) echo 'FATA[0001] pulling image: 429 Too Many Requests'; exit 1 ;;";
    machine.stub("crictl", machine.bodyOf("crictl").replace("in\n", `in\n${pull}\n`));
    assert.match(
      reason(load().stderr),
      /^dev-control-plane-0 cannot pull \S+: 429 Too Many Requests; run the same command again later, .*, or write a mirror/,
    );
  });

  it("makes nothing ready where etcdutl does not say the snapshot's revision", () => {
    machine.stub("ctr", machine.bodyOf("ctr").replace("$2 == status", "$2 == x"));
    assert.equal(reason(load().stderr), "the snapshot cannot be restored on dev-control-plane-0");
  });

  it("makes nothing ready where the disk would be full with it, or the certificates are for another address", () => {
    machine.put("free", "200000000");
    machine.put("var/lib/etcd/stackadm-next/member/db", "of an earlier run");
    assert.match(reason(load().stderr), /has 190 MiB left, and 257 are needed beside the data/);
    // Data of an earlier run would take up the space that is checked.
    assert.ok(!has("var/lib/etcd/stackadm-next"));
    machine.put("free", "1000000000");
    const moved = does("load", "TOKEN", "dev-control-plane-0=https://10.0.0.99:2380", "8", "9");
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
    well("swap", "TOKEN");
    well("swap", "TOKEN");
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
    const runs = (): void => {
      const { stderr } = does("swap", "TOKEN");
      assert.match(reason(stderr), /^etcd on dev-control-plane-0 runs again/);
      assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
    };
    runs();
    // The user runs etcd by hand, without its manifest.
    well("stop");
    machine.stub("crictl", "echo e7cd");
    runs();
  });

  /** Returns the previous data, which must be kept. */
  const kept = (): string => machine.execute(`cat /var/lib/etcd/member-before-*/db`).stdout;

  it("keeps the data of before once, however often it begins anew, and then what was in use since", () => {
    for (const token of ["A", "B", "C"]) {
      assert.equal(load("8", token).code, 0);
      well("stop");
      well("swap", token);
      well("start-etcd");
    }
    assert.equal(kept(), "OLD");
    assert.ok(!has("var/lib/etcd/stackadm-former"));
    well("settle");
    machine.put("var/lib/etcd/member/db", "LATER");
    load("8", "D");
    well("stop");
    // The names contain seconds.
    machine.stub("date", 'case "$*" in *%s*) /bin/date +%s ;; *) echo later ;; esac');
    well("swap", "D");
    assert.equal(machine.file("var/lib/etcd/member-before-later/db"), "LATER");
  });

  it("deletes the data of an unfinished restore, also if the call that replaced them was killed", () => {
    load("8", "A");
    for (const words of [["stop"], ["swap", "A"], ["start-etcd"]]) well(...words);
    assert.equal(load("8", "B").code, 0);
    well("stop");
    machine.stub("rm", 'case "$*" in *stackadm-former*) kill -9 $$; exit ;; esac; /bin/rm "$@"');
    assert.notEqual(does("swap", "B").code, 0);
    machine.stub("rm", '/bin/rm "$@"');
    assert.ok(has("var/lib/etcd/stackadm-former"));
    well("swap", "B");
    assert.deepEqual(
      readdirSync(join(machine.root, "var/lib/etcd")).filter((name) => name.startsWith("stackadm")),
      [],
    );
    assert.equal(machine.file("var/lib/etcd/member/db"), "NEW\n");
    assert.equal(kept(), "OLD");
  });

  it("keeps what was in use since an API server answered with it, also of a run that failed elsewhere then", () => {
    load("8", "A");
    for (const words of [["stop"], ["swap", "A"], ["start-etcd"], ["start-api"]]) well(...words);
    machine.put("var/lib/etcd/member/db", "LATER");
    load("8", "B");
    well("stop");
    machine.stub("date", 'case "$*" in *%s*) /bin/date +%s ;; *) echo later ;; esac');
    well("swap", "B");
    assert.equal(machine.file("var/lib/etcd/member-before-later/db"), "LATER");
  });

  it("keeps what a run made days ago that nobody saw end", () => {
    machine.put("var/lib/etcd/member/stackadm-restored", "A 1700000000\n");
    load();
    well("stop");
    well("swap", "TOKEN");
    assert.equal(kept(), "OLD");
  });

  it("is not content where nothing is ready, or what is ready is of another run", () => {
    well("stop");
    assert.match(
      reason(does("swap", "TOKEN").stderr),
      /^dev-control-plane-0 has no loaded data for this/,
    );
    load("8", "OTHER");
    assert.equal(does("swap", "TOKEN").code, 1);
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
    // The script also stops the container itself, not only through kubelet.
    assert.ok(calls.includes("crictl stop e7cd"));
    assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
  });

  it("remembers less than the cluster may have lost, so that the next up looks", () => {
    for (const name of ["kept-version", "kept-kubelet", "kept-patches"])
      machine.put(`var/lib/stackadm/${name}`, "as it is");
    well("start-api");
    const kept = (name: string) => machine.file(`var/lib/stackadm/${name}`);
    assert.deepEqual(["kept-version", "kept-kubelet", "kept-patches", "kept-proxy"].map(kept), [
      undefined,
      "not finished",
      "as it is",
      undefined,
    ]);
  });

  it("knows no other word", () => {
    assert.equal(does("everything").code, 64);
  });
});
