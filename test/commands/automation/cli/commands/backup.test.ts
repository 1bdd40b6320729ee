import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { NewBackup } from "../../../../../automation/backup/backup-files.js";
import { getClusterMetadata } from "../../../../../openstack/inventory/ownership.js";
import { urnOf } from "../../../../support/engine/fake-engine.js";
import { startFakeCloud, type FakeCloud } from "../../../../support/cloud/fake-openstack.js";
import { lastLine, Operator } from "../../../../support/commands/test-user.js";
import {
  prepareReadyCloud,
  startFakeCluster,
  type FakeCluster,
} from "../../../../support/cloud/ready-cluster.js";

describe("`stackadm backup` and `stackadm restore`", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let cluster: FakeCluster;
  let operator: Operator;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    cluster = await startFakeCluster();
    operator = new Operator(cloud.environment());
    operator.engine.state({});
    operator.engine.outputs({ ...cluster.outputs, nodes: { value: nodes } });
  });
  afterEach(async () => {
    const changes = cloud.seen.filter(
      ({ method, path }) => method !== "GET" && !/tokens/.test(path),
    );
    assert.deepEqual(changes, []);
    operator.remove();
    await cluster.close();
    await cloud.close();
  });
  /** Machines without known host keys, so that nothing connects to them by SSH. */
  const nodes = [0, 1].map((at) => ({
    name: `dev-control-plane-${at}`,
    role: "control-plane",
    zone: "a",
    address: `10.0.0.${10 + at}`,
    serverId: `id-${at}`,
  }));

  it("deletes the backup directory if no machine provides data, and reports each machine's error", async () => {
    const to = join(operator.home, "backups", "one");
    const { code, err } = await operator.run("backup", "--to", to);
    assert.equal(code, 1, err);
    assert.match(
      err,
      /error: No member of etcd provides a snapshot:\n.*dev-control-plane-0 cannot be/,
    );
    assert.match(
      err,
      /dev-control-plane-1 cannot be reached by SSH: no route to it or no host key/,
    );
    assert.deepEqual(readdirSync(join(operator.home, "backups")), []);
  });

  it("refuses an existing directory", async () => {
    const to = join(operator.home, "one");
    mkdirSync(to);
    const { code, err } = await operator.run("backup", "--to", to);
    assert.equal(code, 2, err);
    assert.match(err, /error: --to: '.*one' already exists/);
    assert.deepEqual(readdirSync(to), []);
  });

  it("requires a cluster", async () => {
    const other = new Operator(cloud.environment());
    try {
      const { code, out } = await other.run("backup", "--json");
      assert.equal(code, 1);
      assert.equal(lastLine(out)["code"], "STACK_NOT_FOUND");
    } finally {
      other.remove();
    }
  });

  it("requires `--yes` and a valid backup directory to restore", async () => {
    const silent = await operator.run("restore", "--from", operator.home);
    assert.equal(silent.code, 2);
    assert.match(silent.err, /`restore` needs a confirmation, .*Add `--yes`/s);
    const nothing = await operator.run("restore", "--yes");
    assert.equal(nothing.code, 2);
    assert.match(nothing.err, /required option '--from <directory>' not specified/);
    const { code, err } = await operator.run("restore", "--yes", "--from", operator.home);
    assert.equal(code, 2, err);
    assert.match(err, /error: --from: .* cannot be used as a backup: it has no backup\.json\./);
  });

  it("ignores a server of another cluster that has the same name", async () => {
    const [own, another] = ["0123456789ab", "ba9876543210"];
    const identity = { urn: urnOf("command:local:Command", "dev-identity"), custom: true, id: "i" };
    operator.engine.state({
      resources: [{ ...identity, type: "command:local:Command", outputs: { stdout: own } }],
    });
    const servers = nodes.map(({ name }) => ({
      id: `theirs-${name}`,
      name,
      status: "ACTIVE",
      metadata: getClusterMetadata({ name: "dev", identity: another }),
    }));
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    const backup = new NewBackup(join(operator.home, "one"));
    const kept = await backup.write("data", (into) => pipeline(Readable.from(["DATA"]), into));
    const { directory } = await backup.complete({
      takenAt: "2026-11-25T20:00:00Z",
      stack: "dev",
      cluster: "dev",
      identities: [own],
      snapshot: { ...kept, machine: "", majority: true },
      archives: [],
      state: kept,
    });
    const { code, err } = await operator.run("restore", "--yes", "--from", directory);
    assert.equal(code, 1, err);
    assert.match(err, /No machine is a member of etcd any more, and the backup has no archive of/);
    assert.doesNotMatch(err, /its server is ACTIVE|delete its server/);
  });
});
