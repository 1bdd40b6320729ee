import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startFakeCloud, type FakeCloud } from "../../support/fake-openstack.js";
import { lastLine, Operator } from "../../support/operator.js";
import { equip, startFakeCluster, type FakeCluster } from "../../support/ready-cluster.js";

describe("`stackadm backup` and `stackadm restore`", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let cluster: FakeCluster;
  let operator: Operator;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    equip(cloud);
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
  /** Nobody has a host key of theirs, so that nobody logs in anywhere. */
  const nodes = [0, 1].map((at) => ({
    ...{ name: `dev-control-plane-${at}`, role: "control-plane", zone: "a" },
    ...{ address: `10.0.0.${10 + at}`, serverId: `id-${at}` },
  }));

  it("leaves nothing of a backup to which no machine gives anything, and says it of each", async () => {
    const to = join(operator.home, "backups", "one");
    const { code, err } = await operator.run("backup", "--to", to);
    assert.equal(code, 1, err);
    assert.match(
      err,
      /error: No member of etcd gives a snapshot:\n.*dev-control-plane-0 cannot be/,
    );
    assert.match(err, /dev-control-plane-1 cannot be reached by SSH: no way or no host key/);
    assert.deepEqual(readdirSync(join(operator.home, "backups")), []);
  });

  it("writes into no directory that is there", async () => {
    const to = join(operator.home, "one");
    mkdirSync(to);
    const { code, err } = await operator.run("backup", "--to", to);
    assert.equal(code, 2, err);
    assert.match(err, /error: --to: '.*one' is there already/);
    assert.deepEqual(readdirSync(to), []);
  });

  it("needs a cluster", async () => {
    const other = new Operator(cloud.environment());
    try {
      const { code, out } = await other.run("backup", "--json");
      assert.equal(code, 1);
      assert.equal(lastLine(out)["code"], "STACK_NOT_FOUND");
    } finally {
      other.remove();
    }
  });

  it("wants to hear that a restore is meant, and from what", async () => {
    const silent = await operator.run("restore", "--from", operator.home);
    assert.equal(silent.code, 2);
    assert.match(silent.err, /`restore` wants to hear that it is meant, .*Write `--yes`/s);
    const nothing = await operator.run("restore", "--yes");
    assert.equal(nothing.code, 2);
    assert.match(nothing.err, /required option '--from <directory>' not specified/);
    const { code, err } = await operator.run("restore", "--yes", "--from", operator.home);
    assert.equal(code, 2, err);
    assert.match(err, /error: --from: .* is no backup that can be used: it has no backup\.json\./);
  });
});
