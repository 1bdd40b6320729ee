import assert from "node:assert/strict";
import {
  getClusterMetadata,
  getClusterTags,
} from "../../../../../openstack/inventory/ownership.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../../support/cloud/fake-openstack.js";
import { golden } from "../../../../support/golden.js";
import { jsonLines, lastLine, Operator } from "../../../../support/commands/test-user.js";

const dev = { name: "dev", identity: "0123456789ab" };
const prod = { name: "prod", identity: "ba9876543210" };

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
      { id: "s1", name: "dev-general-0", status: "ACTIVE", metadata: getClusterMetadata(dev) },
      { id: "s2", name: "database", metadata: {} },
      { id: "s3", name: "prod-general-0", metadata: getClusterMetadata(prod) },
    ];
    const networks = [
      { id: "n1", name: "dev", tags: getClusterTags(dev) },
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

  it("lists only objects with a cluster's marks, with reasons, and ignores objects that only share its name", async () => {
    const { code, out, err } = await operator.start(["orphans"]).ended;
    assert.deepEqual([code, err], [0, ""]);
    golden("cli/orphans-table.txt", out);
    assert.deepEqual(deleted(), []);
  });

  it("reports the kinds that the cloud does not show, and deletes the rest", async () => {
    cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    const remove = ["orphans", "--identity", dev.identity, "--delete", "--yes"];
    const { code, out, err } = await operator.run(...remove);
    assert.equal(code, 0, err);
    assert.match(out, /^Not checked, because .* to this user: load balancers\. A user /m);
    assert.deepEqual(deleted(), ["/compute/servers/s1", "/network/networks/n1"]);
  });

  it("accepts the name of a cluster without a stack file", async () => {
    const { out } = await operator.run("orphans", "--cluster", "prod");
    assert.match(out, /^server {2}prod-general-0 {2}s3/m);
    assert.doesNotMatch(out, /dev/);
    const nothing = await operator.run("orphans", "--cluster", "test");
    assert.equal(nothing.out, "No object in the project has the marks of cluster 'test'.\n");
  });

  it("deletes exactly the objects of the identity, servers before their network", async () => {
    const remove = ["orphans", "--identity", dev.identity, "--delete", "--yes"];
    const { code, err } = await operator.run(...remove);
    assert.equal(code, 0);
    assert.deepEqual(deleted(), ["/compute/servers/s1", "/network/networks/n1"]);
    assert.match(err, /^\+ Delete 2 objects \(\d+ s\)$/m);
    const again = await operator.run(...remove);
    assert.match(again.out, /^No object in the project has/);
    assert.equal(deleted().length, 2);
  });

  it("refuses to delete a network that contains a foreign port, and names the port", async () => {
    const port = (id: string, device_owner: string, device_id: string) => ({
      id,
      name: id,
      network_id: "n1",
      device_owner,
      device_id,
    });
    const ports = [
      port("of the machine", "compute:nova", "s1"),
      port("theirs", "compute:nova", "s2"),
      port("of DHCP", "network:dhcp", "dhcp"),
    ];
    cloud.on("GET /network/ports", { body: { ports } });
    const remove = ["orphans", "--identity", dev.identity, "--delete", "--yes"];
    const { code, err } = await operator.run(...remove);
    assert.equal(code, 1);
    assert.match(
      err,
      /^error: Cannot delete the network: it still contains port 'theirs' \(theirs\), which this cluster does not own\. Nothing was deleted\.$/m,
    );
    assert.deepEqual(deleted(), []);
  });

  it("refuses `--delete` without an identity, because several clusters may share a name", async () => {
    const { code, err } = await operator.run("orphans", "--delete");
    assert.equal(code, 2);
    assert.match(
      err,
      /Several clusters may share this name; write the identity of the one to delete:\n {2}cluster 'dev', identity 0123456789ab: 2 objects, 1 of 1 servers running\n {2}If .* `stackadm orphans --identity 0123456789ab --delete`/,
    );
    assert.deepEqual(deleted(), []);
  });

  describe("with a server that may be running", () => {
    const remove = ["orphans", "--identity", dev.identity, "--delete"];

    it("requires the user to type the cluster's name before it deletes", async () => {
      for (const keys of ["0123456789ab\n", "yes\n", "\n", ""]) {
        const { code, out, err } = await operator.type(keys, ...remove);
        assert.equal(code, 1);
        assert.match(out, /^server +dev-general-0 +s1/m, "what goes is shown");
        assert.match(
          err,
          /^This cluster may be running:\n {2}cluster 'dev', identity 0123456789ab: 2 objects, 1 of 1 servers running$/m,
        );
        assert.match(err, /error: '.*' is not 'dev', the cluster's name: nothing was changed\./);
      }
      assert.deepEqual(deleted(), []);
      const { code, err } = await operator.type("dev\n", ...remove);
      assert.equal(code, 0, err);
      assert.deepEqual(deleted(), ["/compute/servers/s1", "/network/networks/n1"]);
    });

    it("requires `--yes` without a terminal or with `--json`", async () => {
      for (const more of [[], ["--json"]]) {
        const { code, out, err } = await operator.run(...remove, ...more);
        assert.equal(code, 2);
        assert.match(out + err, /`orphans --delete` needs a confirmation/);
      }
      assert.deepEqual(deleted(), []);
    });

    it("deletes without confirmation if no servers are left", async () => {
      here.servers = [];
      const { code } = await operator.run(...remove);
      assert.deepEqual([code, deleted()], [0, ["/network/networks/n1"]]);
    });

    it("requires confirmation for a stopped server, but not for a server in ERROR", async () => {
      for (const [status, asks] of [
        ["SHUTOFF", true],
        ["ERROR", false],
      ] as const) {
        here.servers = here.servers.map((one) => (one.id === "s1" ? { ...one, status } : one));
        const { code } = await operator.run(...remove);
        assert.equal(code === 2, asks, status);
      }
    });

    it("shows the delete command when it only lists objects", async () => {
      const { code, out } = await operator.run("orphans", "--identity", dev.identity);
      assert.equal(code, 0);
      assert.match(
        out,
        /^If no state has this cluster any more, delete 2 of 2 objects with `stackadm orphans --identity 0123456789ab --delete`/m,
      );
      assert.deepEqual(deleted(), []);
    });
  });

  it("refuses an invalid or empty identity, so that an unset variable never selects unmarked clusters", async () => {
    here.servers.push({
      id: "s4",
      name: "old-general-0",
      metadata: { "stackadm-cluster": "old" },
    } as never);
    for (const identity of ["", "dev", "0123456789abc"]) {
      const { code, err } = await operator.run("orphans", "--identity", identity, "--delete");
      assert.equal(code, 2);
      assert.match(err, /--identity: '[^']*' is not an identity/);
    }
    assert.deepEqual(deleted(), []);
  });

  it("keeps volumes with data unless `--volumes` is set", async () => {
    const metadata = { "cinder.csi.openstack.org/cluster": "dev-0123456789ab" };
    let volumes = [{ id: "v1", name: "pvc-1", metadata }];
    cloud.on("GET /volumev3/volumes/detail", () => ({ body: { volumes } }));
    cloud.on("DELETE /volumev3/volumes/v1", () => {
      volumes = [];
      return { status: 202 };
    });
    const remove = ["orphans", "--identity", dev.identity, "--delete", "--yes"];
    const { out } = await operator.run(...remove);
    assert.match(out, /^One volume is kept, with its data.*\n {2}pvc-1 \(v1\)$/m);
    assert.ok(!deleted().some((path) => path.includes("volumes")));
    await operator.run(...remove, "--volumes");
    assert.equal(deleted().at(-1), "/volumev3/volumes/v1");
  });

  it("keeps machines' volumes, because copies have the same mark, and prints the delete command", async () => {
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": dev.identity };
    const volumes = [{ id: "v1", name: "dev-0-etcd", metadata }];
    cloud.on("GET /volumev3/volumes/detail", { body: { volumes } });
    const { out } = await operator.run("orphans", "--identity", dev.identity, "--delete", "--yes");
    assert.match(
      out,
      /^One volume is kept, with its data: only its mark .*\n {2}dev-0-etcd \(v1\)\n.*openstack volume delete v1$/m,
    );
    assert.ok(!deleted().some((path) => path.includes("volumes")));
  });

  it("keeps floating IPs of Services unless `--floating-ips` is set, and prints the delete command", async () => {
    const description =
      "Floating IP for Kubernetes external service a/b from cluster dev-0123456789ab";
    let floatingips = [{ id: "f1", floating_ip_address: "203.0.113.9", description }];
    cloud.on("GET /network/floatingips", () => ({ body: { floatingips } }));
    cloud.on("DELETE /network/floatingips/f1", () => {
      floatingips = [];
      return { status: 204 };
    });
    const remove = ["orphans", "--identity", dev.identity, "--delete", "--yes"];
    const { out } = await operator.run(...remove, "--volumes");
    assert.match(
      out,
      /^One floating IP of a Service is kept: .*keep-floatingip.*\n {2}203.0.113.9 \(f1\)\n.*openstack floating ip delete f1$/m,
    );
    assert.ok(!deleted().some((path) => path.includes("floatingips")));
    await operator.run(...remove, "--floating-ips");
    assert.equal(deleted().at(-1), "/network/floatingips/f1");
  });

  it("keeps objects that a destroy has marked as kept, unless `--retained` is set", async () => {
    const tags = ["stackadm-cluster=dev", `stackadm-identity=${dev.identity}`];
    let floatingips = [
      { id: "f1", floating_ip_address: "203.0.113.9", tags: [...tags, "stackadm-kept=retained"] },
    ];
    cloud.on("GET /network/floatingips", () => ({ body: { floatingips } }));
    cloud.on("DELETE /network/floatingips/f1", () => {
      floatingips = [];
      return { status: 204 };
    });
    const list = ["orphans", "--identity", dev.identity];
    assert.match((await operator.run(...list)).out, /, delete 2 of 3 objects with /);
    const { out } = await operator.run(...list, "--delete", "--yes", "--floating-ips");
    assert.match(
      out,
      /^One floating IP is kept: the program keeps it .*\n {2}203.0.113.9 \(f1\)$/m,
    );
    assert.doesNotMatch(out, /openstack floating ip delete/);
    assert.ok(!deleted().some((path) => path.includes("floatingips")));
    assert.match((await operator.run(...list)).out, /--delete` keeps all of these objects/);
    await operator.run(...list, "--delete", "--yes", "--retained");
    assert.equal(deleted().at(-1), "/network/floatingips/f1");
  });

  it("requires confirmation for a cluster without servers that was created within the last hour", async () => {
    here.servers = [];
    const tags = ["stackadm-cluster=dev", `stackadm-identity=${dev.identity}`];
    const created_at = new Date(Date.now() - 5 * 60_000).toISOString();
    const security_groups = [{ id: "g1", name: "dev", tags, created_at }];
    cloud.on("GET /network/security-groups", { body: { security_groups } });
    const { code } = await operator.run("orphans", "--identity", dev.identity, "--delete");
    assert.deepEqual([code, deleted()], [2, []]);
  });

  it("fails with the cloud's message if an object cannot be deleted, also as JSON", async () => {
    const refusal = { forbidden: { message: "Policy doesn't allow it to be performed." } };
    cloud.on("DELETE /compute/servers/s1", { status: 403, body: refusal });
    const { code, out } = await operator.run(
      ...["orphans", "--identity", dev.identity, "--delete", "--yes", "--json"],
    );
    assert.equal(code, 3);
    const { type, code: name, message } = lastLine(out);
    assert.deepEqual([type, name], ["error", "FORBIDDEN"]);
    assert.match(String(message), /Policy doesn't allow it/);
    assert.ok(!jsonLines(out).some((line) => line["type"] === "result"));
  });

  it("prints one JSON result line with kinds, IDs and reasons", async () => {
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

  it("fails with exit code 3 for wrong credentials, without printing them", async () => {
    cloud.on("POST /identity/v3/auth/tokens", {
      status: 401,
      body: { error: { message: "The request you have made requires authentication." } },
    });
    const { code, out, err } = await operator.run("orphans");
    assert.deepEqual([code, out], [3, ""]);
    assert.match(err, /^\nerror: [^\n]+\n {2}[^\n]+\n {2}AUTH_FAILED: [^\n]+\n$/);
    assert.doesNotMatch(err, /correct horse/);
  });
});
