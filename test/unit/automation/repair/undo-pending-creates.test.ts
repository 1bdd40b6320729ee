import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getLastUpPath } from "../../../../automation/pulumi/last-up.js";
import {
  hasInterruptedRun,
  undoPendingCreates,
} from "../../../../automation/repair/undo-pending-creates.js";
import type { StackOperation } from "../../../../automation/engine/operation-context.js";
import { editUnderLock } from "../../../../automation/steps/edit-state.js";
import { readState, type StateAccess } from "../../../../automation/pulumi/stack-state.js";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import {
  emptyProject,
  inNoTime,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";
import { creating, resource } from "../../../support/engine/pending-operations.js";

const instance = "openstack:compute/instance:Instance";

const [before, during] = ["2026-01-02T09:00:00Z", "2026-01-02T10:00:05Z"];
const stack = {
  urn: "urn:pulumi:dev::stackadm::pulumi:pulumi:Stack::stackadm-dev",
  custom: false,
  type: "pulumi:pulumi:Stack",
  created: "2026-01-02T10:00:00Z",
};
const identity = {
  urn: "urn:pulumi:dev::stackadm::stackadm:index:Cluster$command:local:Command::dev-identity",
  type: "command:local:Command",
  custom: true,
  id: "made",
  outputs: { stdout: "0123456789ab" },
};
const ours = ["net", "router", "subnet", "group", "listener", "pool"].map((id) => ({
  urn: `urn:pulumi:dev::stackadm::some:index:Thing::${id}`,
  type: "some:index:Thing",
  custom: true,
  id,
}));
const metadataOf = (mark: string) => ({ "stackadm-cluster": "dev", "stackadm-identity": mark });

/** Stub of the engine: exports and imports the file `state.json`. */
const engine = `#!/bin/sh
case "$1 $2" in
"stack export") cat "$STATE" ;;
"stack history") cat "$STATE.history" ;;
"stack import")
  if [ -e "$STATE.locked" ]; then echo "the stack is currently locked" >&2 && exit 255; fi
  cat >"$STATE" ;;
*) exit 9 ;;
esac
`;

describe("undoPendingCreates", () => {
  let directory: string;
  let cloud: FakeCloud;
  const notes: string[] = [];
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "recovery-"));
    writeFileSync(join(directory, "pulumi"), engine);
    chmodSync(join(directory, "pulumi"), 0o755);
    cloud = await startFakeCloud();
    emptyProject(cloud);
    notes.length = 0;
    putHistory([]);
    writeFileSync(getLastUpPath({ directory }), String(Date.parse("2026-01-02T10:00:00Z")));
  });
  afterEach(async () => {
    rmSync(directory, { recursive: true });
    await cloud.close();
  });
  const stateFile = (): string => join(directory, "state.json");
  const access = (): StateAccess => ({
    workspace: { stack: "dev", project: "stackadm", directory },
    env: { ...process.env, PATH: `${directory}:${process.env["PATH"] ?? ""}`, STATE: stateFile() },
  });
  const putHistory = (history: unknown[]): void => {
    writeFileSync(`${stateFile()}.history`, JSON.stringify(history));
  };
  /**
   * Writes the state of a stack that was created at 10:00, with a network, a router and a security
   * group.
   */
  const putState = (pending: unknown[], resources: unknown[] = []): void => {
    const state = {
      version: 3,
      deployment: {
        manifest: { magic: "kept", time: during },
        resources: [stack, identity, ...ours, ...resources],
        pending_operations: pending,
      },
    };
    writeFileSync(stateFile(), JSON.stringify(state));
  };
  const pendingNow = (): unknown =>
    (
      JSON.parse(readFileSync(stateFile(), "utf8")) as {
        deployment: { pending_operations: unknown };
      }
    ).deployment.pending_operations;
  const undo = async () => {
    const before = await readState(access());
    assert.ok(before);
    if (!hasInterruptedRun(before)) return { cleared: [], before, state: before };
    return undoPendingCreates(access(), before, async () => ({
      cloud: await connectCloud({ env: cloud.environment(), patience: inNoTime }),
      note: (text) => {
        notes.push(text);
      },
    }));
  };
  let undone: readonly string[] = [];
  /** Undoes the pending operations, and writes the state as under the stack's lock. */
  const edit = (meanwhile = (): void => undefined) => {
    const hold: StackOperation["hold"] = (work) =>
      work({
        signal: new AbortController().signal,
        cloud: () => connectCloud({ env: cloud.environment(), patience: inNoTime }),
      });
    return editUnderLock({ access: access(), hold }, async () => {
      const { state, cleared } = await undo();
      meanwhile();
      undone = cleared;
      return state;
    });
  };
  const run = async () => {
    const { after } = await edit();
    assert.deepEqual(after?.deployment.pending_operations, pendingNow());
    return undone;
  };
  const written = (): string[] =>
    cloud.seen
      .filter(({ method, path }) => method !== "GET" && !path.endsWith("/tokens"))
      .map(({ method, path }) => `${method} ${path}`);

  it("sends no request if nothing was interrupted", async () => {
    putState([]);
    assert.deepEqual(await run(), []);
    assert.deepEqual(cloud.seen, []);
  });

  it("cancels a second leave script of a deleted server without a request to the cloud", async () => {
    const server = { urn: "urn::x::y::dev-0-server", type: "x", pendingReplacement: true };
    const { type, urn } = resource("command:remote:Command", "dev-0-leave");
    const leave = { urn, type, pendingReplacement: true, replaceWith: [server.urn] };
    putState([], [server, leave]);
    assert.deepEqual(await run(), ["Command 'dev-0-leave'"]);
    assert.deepEqual(await run(), []);
    assert.deepEqual(cloud.seen, []);
  });

  it("drops pending scripts without a request to the cloud", async () => {
    putState([creating("command:remote:Command", "dev-0-init")]);
    assert.deepEqual(await run(), ["Command 'dev-0-init'"]);
    assert.deepEqual(cloud.seen, []);
    assert.deepEqual(pendingNow(), []);
  });

  it("marks an interrupted script so that the script runs again, even with unchanged inputs", async () => {
    const held = (name: string) => {
      const { type, urn, inputs } = resource("command:remote:Command", name, { update: "run" });
      return { urn, type, custom: true, inputs, outputs: { ...inputs, stdout: "{}" } };
    };
    const stopped = {
      type: "updating",
      resource: resource("command:remote:Command", "dev-0-init"),
    };
    putState([stopped], [held("dev-0-init"), held("dev-1-join")]);
    await run();
    const { deployment } = JSON.parse(readFileSync(stateFile(), "utf8")) as {
      deployment: { resources: ReturnType<typeof held>[] };
    };
    const [first, second] = deployment.resources.slice(-2);
    assert.notEqual(first?.inputs["update"], "run");
    assert.deepEqual(first?.outputs, { update: first?.inputs["update"], stdout: "{}" });
    assert.deepEqual(second, held("dev-1-join"));
  });

  it("never deletes an object with the identity of another cluster", async () => {
    putState([creating(instance, "dev-0-server", { name: "dev-0" })]);
    const metadata = metadataOf("ba9876543210");
    const servers = [{ id: "theirs", name: "dev-0", metadata, created: during }];
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    await run();
    assert.deepEqual([written(), notes], [[], []]);
    assert.deepEqual(pendingNow(), []);
  });

  it("never deletes an object in a network that the state only read", async () => {
    const shared = { ...resource("openstack:networking/network:Network", "shared"), id: "theirs" };
    const type = "openstack:networking/subnet:Subnet";
    putState([creating(type, "subnet", { name: "dev" })], [{ ...shared, external: true }]);
    const subnets = [{ id: "new", name: "dev", network_id: "theirs", created_at: during }];
    cloud.on("GET /network/subnets", { body: { subnets } });
    await run();
    assert.deepEqual(written(), []);
    assert.match(notes.join("\n"), /nothing on it names its owner/);
  });

  it("deletes a server that was created but not recorded, and keeps the rest of the state", async () => {
    putState([creating(instance, "dev-0-server", { name: "dev-0" })]);
    const servers = [
      { id: "new", name: "dev-0", metadata: metadataOf("0123456789ab"), created: during },
      { id: "foreign", name: "dev-00", metadata: metadataOf("0123456789ab") },
    ];
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers: [...servers] } }));
    cloud.on("POST /compute/servers/new/action", () => {
      servers.shift();
      return { status: 202 };
    });
    assert.deepEqual(await run(), ["Instance 'dev-0-server'"]);
    assert.deepEqual(written(), ["POST /compute/servers/new/action"]);
    assert.match(notes.join("\n"), /Deleting the server 'dev-0'/);
    assert.match(readFileSync(stateFile(), "utf8"), /"magic":"kept"/);
    assert.deepEqual(pendingNow(), []);
  });

  it("never deletes an object in the state, even if the names are equal", async () => {
    const held = { ...resource(instance, "dev-0-server", { name: "dev-0" }), id: "held" };
    putState([creating(instance, "dev-0-server", { name: "dev-0" })], [held]);
    const metadata = metadataOf("0123456789ab");
    const servers = [{ id: "held", name: "dev-0", metadata, created: during }];
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    await run();
    assert.deepEqual([written(), notes], [[], []]);
  });

  it("detaches only router interfaces, and tolerates missing ones", async () => {
    const type = "openstack:networking/routerInterface:RouterInterface";
    putState([creating(type, "i", { routerId: "router", subnetId: "subnet" })]);
    const owners = ["router_centralized_snat", "router_interface_distributed", "router_interface"];
    const ports = owners.map((id) => ({ id, created_at: during, device_owner: `network:${id}` }));
    cloud.on("GET /network/ports", { body: { ports } });
    cloud.on("PUT /network/routers/router/remove_router_interface", { status: 404 });
    await run();
    const taken = cloud.seen.filter(({ method }) => method === "PUT").map(({ body }) => body);
    assert.deepEqual(taken, [{ port_id: owners[1] }, { port_id: owners[2] }]);
  });

  it("deletes exactly the rule of the interrupted create, and tolerates a missing one", async () => {
    const inputs = {
      securityGroupId: "group",
      description: "why",
      ethertype: "IPv4",
      direction: "ingress",
    };
    putState([creating("openstack:networking/secGroupRule:SecGroupRule", "r", inputs)]);
    const rule = {
      description: "why",
      ethertype: "IPv4",
      direction: "ingress",
      created_at: during,
    };
    cloud.on("GET /network/security-group-rules", {
      body: {
        security_group_rules: [
          { id: "1", ...rule },
          { id: "2", ...rule, ethertype: "IPv6" },
          { id: "3", ...rule, description: null },
          { id: "4", ...rule, created_at: before },
        ],
      },
    });
    cloud.on("DELETE /network/security-group-rules/1", { status: 404 });
    await run();
    assert.deepEqual(written(), ["DELETE /network/security-group-rules/1"]);
  });

  it("deletes exactly the part of a load balancer that was created but not recorded", async () => {
    const type = "openstack:loadbalancer/pool:Pool";
    const held = { ...resource(type, "p", { name: "dev-api" }), id: "held" };
    putState([creating(type, "p", { name: "dev-api", listenerId: "listener" })], [held]);
    const pool = { name: "dev-api", created_at: during, listeners: [{ id: "listener" }] };
    const pools = [
      { ...pool, id: "held" },
      { ...pool, id: "left", created_at: "2026-01-02T10:00:05" },
      { ...pool, id: "older", created_at: before },
      { ...pool, id: "other", listeners: [{ id: "theirs" }] },
    ];
    cloud.on("GET /load-balancer/lbaas/pools", { body: { pools } });
    cloud.on("DELETE /load-balancer/lbaas/pools/left", { status: 204 });
    await run();
    assert.deepEqual(written(), ["DELETE /load-balancer/lbaas/pools/left"]);
    assert.match(notes.join("\n"), /Deleted the pool 'dev-api'/);
  });

  it("finds a member in the pool of the pending create", async () => {
    const inputs = { name: "dev-control-plane-1", poolId: "pool" };
    putState([creating("openstack:loadbalancer/member:Member", "m", inputs)]);
    const members = [
      { id: "m0", name: "dev-control-plane-0" },
      { id: "m1", name: "dev-control-plane-1", created_at: during },
    ];
    cloud.on("GET /load-balancer/lbaas/pools/pool/members", { body: { members } });
    cloud.on("DELETE /load-balancer/lbaas/pools/pool/members/m1", { status: 204 });
    await run();
    assert.deepEqual(written(), ["DELETE /load-balancer/lbaas/pools/pool/members/m1"]);
  });

  it("keeps the pending operation if the cloud fails, so that the next run retries", async () => {
    putState([creating(instance, "dev-0-server", { name: "dev-0" })]);
    cloud.on("GET /compute/servers/detail", { status: 500, body: "down" });
    await assert.rejects(run, /500/);
    assert.equal((pendingNow() as unknown[]).length, 1);
  });

  it("writes nothing if the state changed meanwhile or another process holds the stack", async () => {
    const pending = creating("command:remote:Command", "init");
    putState([pending]);
    const refused = (meanwhile: () => void) =>
      assert.rejects(edit(meanwhile), { code: "STACK_LOCKED" });
    await refused(() => {
      writeFileSync(`${stateFile()}.locked`, "");
    });
    rmSync(`${stateFile()}.locked`);
    await refused(() => {
      putState([pending], [resource("some:index:Thing", "made since")]);
    });
    assert.deepEqual(pendingNow(), [pending]);
  });
});
