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
    it("reports a control plane with etcd's members, and a stopped control plane without members", () => {
      const peers = ["https://10.0.0.10:2380", "https://10.0.0.11:2380"];
      assert.deepEqual(look(), { ...controlPlane, live: true, peers });
      well("stop");
      assert.deepEqual(look(), { ...controlPlane, live: false, majority: false, peers: [] });
    });

    it("reports unknown members if etcd runs and does not list the members", () => {
      const silent = machine.bodyOf("crictl").replace('*"member list"*)', "*list*) exit 1 ;; *x*)");
      machine.stub("crictl", silent);
      assert.deepEqual(look(), { ...controlPlane, live: true, peers: null });
      machine.stub("crictl", "exit 1");
      assert.deepEqual(look(), { ...controlPlane, live: true, majority: false, peers: null });
    });

    it("reports a recreated machine and an unprepared machine", () => {
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

  it("restores the snapshot next to etcd's data with etcd's image, and deletes the snapshot", () => {
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

  it("raises the revision above the snapshot's even if the machine's clock is behind", () => {
    const { calls } = load("8", "TOKEN", 4711);
    assert.ok(calls.some((call) => call.includes("--bump-revision 1000000000 ")));
  });

  it("loads no data if etcd's image cannot be pulled, and reports the registry's answer", () => {
    const pull = "pull*) echo 'FATA[0001] pulling image: 429 Too Many Requests'; exit 1 ;;";
    machine.stub("crictl", machine.bodyOf("crictl").replace("in\n", `in\n${pull}\n`));
    assert.match(
      reason(load().stderr),
      /^dev-control-plane-0 cannot pull \S+: 429 Too Many Requests; run the same command again later, .*, or write a mirror/,
    );
  });

  it("loads no data if etcdutl does not report the snapshot's revision", () => {
    machine.stub("ctr", machine.bodyOf("ctr").replace("$2 == status", "$2 == x"));
    assert.equal(reason(load().stderr), "the snapshot cannot be restored on dev-control-plane-0");
  });

  it("loads no data if the disk has too little space or the certificates are for another address", () => {
    machine.put("free", "200000000");
    machine.put("var/lib/etcd/stackadm-next/member/db", "of an earlier run");
    assert.match(
      reason(load().stderr),
      /has 190 MiB left, and 257 are needed in addition to the data/,
    );
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

  it("swaps the data once while etcd is stopped, keeps the former data, and starts etcd again", () => {
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

  it("refuses to load or stop while kubeadm runs", () => {
    machine.put("busy");
    for (const outcome of [load(), does("stop")])
      assert.match(reason(outcome.stderr), /^kubeadm is still at work on dev-control-plane-0/);
    assert.ok(has(`${manifests}/etcd.yaml`));
  });

  it("refuses to swap the data after the user starts etcd again", () => {
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

  it("keeps the original data once over several restores, and later the data in use since the last one", () => {
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
    // The directory names contain the time in seconds.
    machine.stub("date", 'case "$*" in *%s*) /bin/date +%s ;; *) echo later ;; esac');
    well("swap", "D");
    assert.equal(machine.file("var/lib/etcd/member-before-later/db"), "LATER");
  });

  it("deletes the data of an unfinished restore, even after a killed swap", () => {
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

  it("keeps the data in use since an API server started with the data of an unfinished run", () => {
    load("8", "A");
    for (const words of [["stop"], ["swap", "A"], ["start-etcd"], ["start-api"]]) well(...words);
    machine.put("var/lib/etcd/member/db", "LATER");
    load("8", "B");
    well("stop");
    machine.stub("date", 'case "$*" in *%s*) /bin/date +%s ;; *) echo later ;; esac');
    well("swap", "B");
    assert.equal(machine.file("var/lib/etcd/member-before-later/db"), "LATER");
  });

  it("keeps the data of an unfinished restore that is days old", () => {
    machine.put("var/lib/etcd/member/stackadm-restored", "A 1700000000\n");
    load();
    well("stop");
    well("swap", "TOKEN");
    assert.equal(kept(), "OLD");
  });

  it("refuses to swap if no data are loaded or another run loaded the data", () => {
    well("stop");
    assert.match(
      reason(does("swap", "TOKEN").stderr),
      /^dev-control-plane-0 has no loaded data for this/,
    );
    load("8", "OTHER");
    assert.equal(does("swap", "TOKEN").code, 1);
    assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
  });

  it("deletes loaded data on tidy", () => {
    load();
    well("tidy");
    assert.ok(!has("var/lib/etcd/stackadm-next"));
  });

  it("leaves etcd's data unchanged if kube-apiserver does not stop", () => {
    load();
    machine.stub("crictl", "echo e7cd");
    const { code, stderr, calls } = does("stop");
    assert.equal(code, 1);
    assert.equal(reason(stderr), "kube-apiserver on dev-control-plane-0 does not stop");
    // The script also stops the container itself, not only through kubelet.
    assert.ok(calls.includes("crictl stop e7cd"));
    assert.equal(machine.file("var/lib/etcd/member/db"), "OLD");
  });

  it("invalidates the records of settings that the restore may have reverted", () => {
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

  it("refuses an unknown subcommand", () => {
    assert.equal(does("everything").code, 64);
  });
});
