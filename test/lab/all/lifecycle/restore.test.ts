import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stackadm, type Said } from "../../support/stack/command-line.js";
import { etcdMembers } from "../../support/kubernetes/etcd.js";
import { until } from "../../support/cloud/foreign.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inServer } from "../../support/machines/machines.js";
import { Stack, type Changes } from "../../support/stack/stack.js";

const minutes = 60_000;

/** Cluster that the test backs up and restores through the command line, as users do. */
class KeptStack extends Stack {
  readonly backups = mkdtempSync(join(tmpdir(), "stackadm-backups-"));

  constructor(
    name: string,
    public changed: Changes,
  ) {
    super(name);
  }

  /** Runs a command that must succeed. */
  async well(...args: string[]): Promise<string> {
    const { code, text } = await this.said(...args);
    assert.equal(code, 0, text);
    return text;
  }

  said(...args: string[]): Promise<Said> {
    return stackadm(this.cluster, args, { changes: this.changed });
  }

  async backup(name: string): Promise<string> {
    const directory = join(this.backups, name);
    await this.well("backup", "--to", directory);
    return directory;
  }

  /** Runs `up` with the current settings. */
  async upTo(refresh = false): Promise<void> {
    await this.up(this.changed, refresh);
  }

  kubectl(line: string): Promise<string> {
    return kubectlOn(this.controlPlanes[0]?.serverId ?? "", line);
  }

  /**
   * Returns the names of the existing marks. A mark is a ConfigMap that shows which data was
   * restored.
   */
  async marks(): Promise<string[]> {
    const all = await this.kubectl("get configmaps -l mark -o name");
    return all.trim().split("\n").filter(Boolean).sort();
  }

  async mark(name: string): Promise<void> {
    await this.kubectl(`create configmap ${name}`);
    await this.kubectl(`label configmap ${name} mark=`);
  }

  /**
   * Requires that a new pod runs. This proves that the controllers, the scheduler and the kubelets
   * work with the restored data.
   */
  async runsPods(name: string): Promise<void> {
    const image = await this.kubectl(
      "get daemonset -n kube-system kube-proxy -o jsonpath={.spec.template.spec.containers[0].image}",
    );
    const line = `run ${name} --image=${image.trim()} --restart=Never --command -- kube-proxy --version`;
    await this.kubectl(line);
    await until(async () => (await this.kubectl(`get pod ${name}`)).includes("Completed"), 120);
  }

  async end(): Promise<void> {
    rmSync(this.backups, { recursive: true, force: true });
    await this.cluster.close();
  }
}

/** Registers mocha hooks that open the stack before the tests and end it after them. */
function around(stack: KeptStack): void {
  before(() => stack.open());
  after(() => stack.end());
}

describe("a cluster that is restored from a backup, on the lab", function () {
  this.timeout(15 * minutes);
  const withWorkers = (count: number): Changes => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    workers: { general: { flavor: "k8s-worker", count } },
  });
  const stack = new KeptStack("back", withWorkers(1));
  around(stack);
  let backup = "";

  it("is backed up into a directory that only its owner can read", async () => {
    await stack.upTo();
    await stack.mark("before");
    backup = await stack.backup("first");
    const files = readdirSync(backup).filter((name) => name !== ".gitignore");
    assert.deepEqual(files.sort(), [
      ...["back-control-plane-0.tgz", "backup.json", "snapshot.db", "state.json"],
    ]);
    for (const file of files) assert.equal(statSync(join(backup, file)).mode & 0o077, 0, file);
    assert.equal(statSync(backup).mode & 0o077, 0);
    const left = await inServer(stack.serverOf("control-plane-0"), "ls /var/lib/etcd");
    assert.equal(left.trim(), "member");
  });

  it("is restored to the backup on its running machines", async () => {
    await stack.mark("after");
    await stack.kubectl("delete configmap before");
    // A worker that was added after the backup is not a node in the restored data.
    stack.changed = withWorkers(2);
    await stack.upTo();
    await stack.well("restore", "--from", backup, "--yes");
    assert.deepEqual(await stack.marks(), ["configmap/before"]);
    await until(async () => {
      const ready = await stack.kubectl("get nodes --no-headers");
      return (ready.match(/ Ready /g) ?? []).length === 3;
    }, 120);
    await stack.runsPods("one");
    await stack.upTo(true);
    await stack.prove(1);
    await stack.again(stack.changed);
  });

  it("is restored after the loss of its only control plane and all keys", async () => {
    const [former] = stack.controlPlanes;
    await stack.lose("control-plane-0");
    const early = await stack.said("restore", "--from", backup, "--yes");
    assert.equal(early.code, 1, early.text);
    assert.match(early.text, /run `stackadm up --refresh`, which recreates back-control-plane-0/);
    const made = await stack.said("up", "--refresh");
    assert.equal(made.code, 1, made.text);
    assert.match(made.text, /was created again, and there is no other control plane to join/);
    await stack.well("restore", "--from", backup, "--yes");
    await stack.upTo(true);
    assert.notEqual(stack.controlPlanes[0]?.serverId, former?.serverId);
    assert.deepEqual(await stack.marks(), ["configmap/before"]);
    await stack.runsPods("two");
    await stack.prove(1);
    await stack.again(stack.changed);
  });

  it("is destroyed without leftovers", () => stack.destroyAndLookAround());
});

describe("a cluster whose etcd lost its majority, restored from the last member, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new KeptStack("rest", {
    controlPlane: { flavor: "k8s-control-plane", count: 3 },
    endpoint: { kind: "virtual-ip" },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    samples: false,
  });
  around(stack);

  it("is restored with all data from the last member, and the other members are recreated", async () => {
    await stack.upTo();
    await stack.mark("before");
    await stack.lose("control-plane-1");
    await stack.lose("control-plane-2");
    const backup = await stack.backup("survivor");
    const text = await stack.well("restore", "--from", backup, "--yes");
    assert.match(
      text,
      /The data come from rest-control-plane-0 at a time when etcd had no majority/,
    );
    assert.match(text, /Not in the cluster afterwards: rest-control-plane-1, rest-control-plane-2/);
    const members = await etcdMembers(stack.serverOf("control-plane-0"));
    assert.deepEqual(
      members.map(({ name }) => name),
      ["rest-control-plane-0"],
    );
    await stack.upTo(true);
    assert.deepEqual(await stack.marks(), ["configmap/before"]);
    await stack.prove(3);
    await stack.runsPods("one");
    await stack.again(stack.changed);
  });

  it("is destroyed without leftovers", () => stack.destroyAndLookAround());
});

describe("a cluster that lost all etcd machines, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new KeptStack("etcdless", {
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    etcd: { kind: "dedicated", flavor: "k8s-worker" },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    samples: false,
  });
  around(stack);

  it("is restored from a backup: one member from its archive, and the others join", async () => {
    await stack.upTo();
    await stack.mark("before");
    const backup = await stack.backup("first");
    for (const name of ["etcd-0", "etcd-1", "etcd-2"]) await stack.lose(name);
    const made = await stack.said("up", "--refresh");
    assert.equal(made.code, 1, made.text);
    await stack.well("restore", "--from", backup, "--yes");
    await stack.upTo(true);
    assert.deepEqual(await stack.marks(), ["configmap/before"]);
    for (const { serverId } of stack.outputs.etcd ?? [])
      assert.equal((await etcdMembers(serverId)).length, 3);
    await stack.runsPods("one");
    await stack.again(stack.changed);
  });

  it("is destroyed without leftovers", () => stack.destroyAndLookAround());
});
