import assert from "node:assert/strict";
import { clusterTag } from "../../../../cloud/ownership.js";
import { emptyProject, startFakeCloud, type FakeCloud } from "../../../support/fake-openstack.js";
import { golden } from "../../../support/golden.js";
import { jsonLines, lastLine, Operator } from "../../../support/operator.js";

describe("`stackadm orphans`", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let operator: Operator;
  let here: Record<"servers" | "networks", { readonly id: string }[]>;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    operator = new Operator(cloud.environment());
    const servers = [
      { id: "s1", name: "dev-general-0", metadata: { "stackadm-cluster": "dev" } },
      { id: "s2", name: "database", metadata: {} },
      { id: "s3", name: "prod-general-0", metadata: { "stackadm-cluster": "prod" } },
    ];
    const networks = [
      { id: "n1", name: "dev", tags: [clusterTag("dev")] },
      { id: "n2", name: "dev", tags: [] },
    ];
    here = { servers, networks };
    const gone = (kind: "servers" | "networks", id: string) => () => {
      here[kind] = here[kind].filter((one) => one.id !== id);
      return { status: 204 };
    };
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers: here.servers } }));
    cloud.on("GET /network/networks", () => ({ body: { networks: here.networks } }));
    cloud.on("DELETE /compute/servers/s1", gone("servers", "s1"));
    cloud.on("DELETE /network/networks/n1", gone("networks", "n1"));
  });
  afterEach(async () => {
    assert.deepEqual(operator.engine.calls(), [], "no engine is needed for a dead cluster");
    operator.remove();
    await cloud.close();
  });
  const deleted = (): string[] =>
    cloud.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);

  it("lists what carries the cluster's marks, and why; nothing of others, nothing by name", async () => {
    const { code, out, err } = await operator.run("orphans");
    assert.deepEqual([code, err], [0, ""]);
    golden("cli/orphans-table.txt", out);
    assert.deepEqual(deleted(), []);
  });

  it("takes the name of a cluster that has no stack file any more", async () => {
    const { out } = await operator.run("orphans", "--cluster", "prod");
    assert.match(out, /^server {2}prod-general-0 {2}s3/m);
    assert.doesNotMatch(out, /dev/);
    const nothing = await operator.run("orphans", "--cluster", "test");
    assert.equal(nothing.out, "Nothing in the project carries the marks of cluster 'test'.\n");
  });

  it("deletes exactly that, servers before their network", async () => {
    const { code, err } = await operator.run("orphans", "--delete");
    assert.equal(code, 0);
    assert.deepEqual(deleted(), ["/compute/servers/s1", "/network/networks/n1"]);
    assert.match(err, /^\+ Delete 2 objects \(\d+ s\)$/m);
    const again = await operator.run("orphans", "--delete");
    assert.match(again.out, /^Nothing in the project carries/);
    assert.equal(deleted().length, 2);
  });

  it("ends with the cloud's sentence when an object cannot be deleted, and names it to programs", async () => {
    const refusal = { forbidden: { message: "Policy doesn't allow it to be performed." } };
    cloud.on("DELETE /compute/servers/s1", { status: 403, body: refusal });
    const { code, out } = await operator.run("orphans", "--delete", "--json");
    assert.equal(code, 3);
    const { type, code: name, message } = lastLine(out);
    assert.deepEqual([type, name], ["error", "FORBIDDEN"]);
    assert.match(String(message), /Policy doesn't allow it/);
    assert.ok(!jsonLines(out).some((line) => line["type"] === "result"));
  });

  it("has one result line for programs, with kinds, ids and reasons", async () => {
    const { out } = await operator.run("orphans", "--json");
    const lines = jsonLines(out);
    assert.equal(lines.length, 1);
    const found = lines[0]?.["found"] as { kind: string; id: string; claim: string }[];
    assert.deepEqual(
      found.map(({ kind, id, claim }) => `${kind} ${id}: ${claim}`),
      ["server s1: marked by stackadm", "network n1: marked by stackadm"],
    );
    assert.equal(lines[0]?.["deleted"], false);
  });

  it("refuses wrong credentials with exit code 3, without showing them", async () => {
    cloud.on("POST /identity/v3/auth/tokens", {
      status: 401,
      body: { error: { message: "The request you have made requires authentication." } },
    });
    const { code, out, err } = await operator.run("orphans");
    assert.deepEqual([code, out], [3, ""]);
    assert.match(err, /^\nerror: [^\n]+\n {2}[^\n]+\n$/);
    assert.doesNotMatch(err, /correct horse/);
  });
});
