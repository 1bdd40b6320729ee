import assert from "node:assert/strict";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

const identity = "0123456789ab";
const description = `Part of cluster dev-${identity}`;
const during = "2026-01-02T10:05:00Z";
const bare = { verify: false, kubeconfigFile: false } as const;

type Fields = Readonly<Record<string, string>> & { readonly id: string };

describe("an object of a failed run that is not in the state", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  const ofIdentity = {
    urn: urnOf("command:local:Command", "dev-identity"),
    type: "command:local:Command",
    custom: true,
    id: "made",
    outputs: { stdout: identity },
  };
  const holding = (id: string) => ({
    urn: urnOf(networkType, "dev-network-network"),
    type: networkType,
    custom: true,
    id,
  });
  const left = { id: "left", name: "dev", description, created_at: during };
  /** Objects that were deleted, with the operations that the engine had run at that time. */
  let deletions: (readonly [string, readonly string[]])[];
  let notes: string[];
  const onNote = (text: string): void => void notes.push(text);

  /** Makes the cloud list the objects until they are deleted. */
  const offer = (collection: string, objects: readonly Fields[]): void => {
    const key = collection.replaceAll("-", "_");
    let listed = [...objects];
    embedder.cloud.on(`GET /network/${collection}`, () => ({ body: { [key]: listed } }));
    for (const { id } of objects)
      embedder.cloud.on(`DELETE /network/${collection}/${id}`, () => {
        const { engine } = embedder;
        assert.ok(engine.heldBy() !== undefined, "no other process works on the stack");
        deletions.push([id, engine.operations()]);
        listed = listed.filter((one) => one.id !== id);
        return { status: 204 };
      });
  };

  beforeEach(async () => {
    embedder = await Embedder.start();
    [deletions, notes] = [[], []];
    embedder.engine.state({ resources: [ofIdentity] });
    const [startTime, endTime] = ["2026-01-02T10:00:00Z", "2026-01-02T10:30:00Z"];
    embedder.engine.history([{ kind: "update", result: "failed", startTime, endTime }]);
  });
  afterEach(() => embedder.stop());

  for (const preflight of [true, "names"] as const)
    it(`is deleted before the update, while the engine holds the lock: preflight ${String(preflight)}`, async () => {
      offer("networks", [left]);
      await embedder.service().up("dev", { ...bare, preflight, onNote });
      assert.deepEqual(deletions, [["left", ["hold"]]]);
      assert.deepEqual(embedder.engine.operations(), ["hold", "up"]);
      assert.match(
        notes.join("\n"),
        /^Deleting the network 'dev' \(left\): it belongs to this cluster/m,
      );
    });

  it("stays and fails `up` with `expectNoChanges`", async () => {
    offer("networks", [left]);
    const options = { ...bare, expectNoChanges: true };
    const refusal = await fails(embedder.service().up("dev", options), "UNEXPECTED_CHANGES");
    assert.match(
      refusal.message,
      /`up` would delete .* without a record: network 'dev' \(left\)\./,
    );
    assert.deepEqual([deletions, embedder.engine.operations()], [[], []]);
  });

  it("is deleted after a killed run too, after the repair of pending operations", async () => {
    const command = "command:local:Command";
    const resource = { urn: urnOf(command, "another"), type: command, custom: true };
    const pending = [{ type: "creating", resource }];
    const manifest = { time: "2026-01-02T10:44:30Z" };
    embedder.engine.state({ manifest, resources: [ofIdentity], pending_operations: pending });
    offer("networks", [{ ...left, created_at: "2026-01-02T10:45:00Z" }]);
    await embedder.service().up("dev", { ...bare, onNote });
    assert.deepEqual(deletions, [["left", ["hold", "hold"]]]);
    assert.deepEqual(embedder.engine.operations(), ["hold", "hold", "up"]);
  });

  it("is deleted after a failed destroy that removed the object from the state, with any creation time", async () => {
    const subnet = {
      ...left,
      id: "subnet",
      network_id: "ours",
      created_at: "2025-12-24T10:00:00Z",
    };
    embedder.engine.state({ resources: [ofIdentity, holding("ours")] });
    const run = (kind: string, result: string, hour: string) => ({
      kind,
      result,
      startTime: `2026-01-02T${hour}:00:00Z`,
      endTime: `2026-01-02T${hour}:30:00Z`,
    });
    const [destroyed, made] = [run("destroy", "failed", "10"), run("update", "succeeded", "09")];
    offer("subnets", [subnet]);
    embedder.engine.history([destroyed, made]);
    await embedder.service().up("dev", bare);
    assert.deepEqual(deletions, [["subnet", ["hold"]]]);
  });

  it("is deleted even if the cloud hides objects of another kind", async () => {
    embedder.cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    offer("networks", [left]);
    await embedder.service().up("dev", { ...bare, preflight: "names" });
    assert.deepEqual(deletions, [["left", ["hold"]]]);
  });

  it("stays after a killed run if hidden kinds may prove that the state is outdated", async () => {
    const type = "kubernetes:core/v1:Namespace";
    const resource = { urn: urnOf(type, "one"), type, custom: true };
    embedder.engine.state({
      resources: [ofIdentity],
      pending_operations: [{ type: "creating", resource }],
    });
    embedder.cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    offer("networks", [left]);
    await fails(embedder.service().up("dev", { ...bare, preflight: "names" }), "FORBIDDEN");
    assert.deepEqual([deletions, embedder.engine.operations()], [[], ["hold"]]);
  });

  it("is reported with a hint if the cloud refuses the deletion", async () => {
    offer("networks", [left]);
    const body = { NeutronError: { message: "not you" } };
    embedder.cloud.on("DELETE /network/networks/left", { status: 403, body });
    const { message, hint } = await fails(embedder.service().up("dev", bare), "FORBIDDEN");
    assert.match(message, /^Cannot delete what an earlier run left without a record: .*: not you/);
    assert.ok(hint.length > 0);
    assert.deepEqual(embedder.engine.operations(), ["hold"]);
  });

  describe("in a network with foreign objects", () => {
    const subnet = { ...left, id: "subnet", network_id: "ours" };
    const port = (id: string, more = {}) => ({ id, name: id, network_id: "ours", ...more });

    it("stays, and `up` fails immediately with the names of the foreign ports", async () => {
      embedder.engine.state({ resources: [ofIdentity, holding("ours")] });
      offer("subnets", [subnet]);
      offer("ports", [
        port("theirs", { device_owner: "compute:nova", device_id: "machine" }),
        port("of a router", { device_owner: "network:ha_router_replicated_interface" }),
        port("of DHCP", { device_owner: "network:dhcp" }),
        port("elsewhere", { network_id: "another" }),
      ]);
      const { message, hint } = await fails(embedder.service().up("dev", bare), "FAILED");
      assert.match(
        message,
        /^Cannot delete subnet 'dev' \(subnet\), .* contains port 'theirs' \(theirs\), port 'of a router' \(of a router\), .* Nothing was deleted\.$/,
      );
      assert.match(
        hint,
        /^Delete that object or the one that uses it, then run the same command again\.$/,
      );
      assert.deepEqual([deletions, embedder.engine.operations()], [[], ["hold"]]);
    });

    it("is deleted if all objects in the network are deleted too", async () => {
      embedder.engine.state({ resources: [ofIdentity, holding("ours")] });
      offer("subnets", [subnet]);
      offer("ports", [port("lost", { description, created_at: during })]);
      await embedder.service().up("dev", bare);
      assert.deepEqual(
        deletions.map(([id]) => id),
        ["lost", "subnet"],
      );
    });
  });

  it("excludes a server without resources in the state, because the server may be in use", async () => {
    const machine = { id: "server", name: "dev-general-0", created: during, status: "ACTIVE" };
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": identity };
    embedder.cloud.on("GET /compute/servers/detail", {
      body: { servers: [{ ...machine, metadata }] },
    });
    const attached = { device_owner: "compute:nova", device_id: "server" };
    offer("ports", [{ ...left, id: "port", ...attached }]);
    const { message } = await fails(embedder.service().up("dev", bare), "PREFLIGHT_FAILED");
    assert.match(
      message,
      /server: the name 'dev-general-0' is taken by server, which belongs to this clu/,
    );
    assert.deepEqual([deletions, embedder.engine.operations()], [[], []]);
  });

  it("stays during a preview", async () => {
    offer("networks", [left]);
    await embedder.service().preview("dev");
    assert.deepEqual([deletions, embedder.engine.operations()], [[], ["preview"]]);
  });

  it("is only reported by the preflight", async () => {
    offer("networks", [left]);
    const findings = await embedder.service().preflight("dev");
    assert.deepEqual(
      findings.map(({ severity, text }) => `${severity} ${text}`),
      [
        "warning network: an earlier run left 'dev' (left) without a record; `stackadm up` deletes it first",
      ],
    );
    assert.deepEqual([deletions, embedder.engine.operations()], [[], []]);
  });

  it("excludes an object that was created outside failed runs, because the state may be outdated", async () => {
    offer("networks", [{ ...left, created_at: "2026-01-02T09:00:00Z" }]);
    const { message } = await fails(embedder.service().up("dev", bare), "PREFLIGHT_FAILED");
    assert.match(message, /taken by left, which belongs to this cluster but is not in the state/);
    assert.deepEqual([deletions, embedder.engine.operations()], [[], []]);
  });

  it("excludes an object that another operation added to the state before the lock", async () => {
    offer("networks", [left]);
    const state = { resources: [ofIdentity, holding("left")] };
    embedder.engine.runs({ hold: { state } });
    await embedder.service().up("dev", bare);
    assert.deepEqual([deletions, embedder.engine.operations()], [[], ["hold", "up"]]);
  });

  it("causes no extra engine calls in `up` if no such object exists", async () => {
    await embedder.service().up("dev", bare);
    assert.deepEqual(embedder.engine.operations(), ["up"]);
    assert.ok(!embedder.engine.calls().some((call) => call.startsWith("stack history")));
  });

  describe("during a destroy", () => {
    const port = (id: string, more = {}) => ({ id, name: id, network_id: "ours", ...more });

    it("is deleted first, and foreign ports are reported and kept", async () => {
      const router = {
        ...holding("router"),
        urn: urnOf("openstack:networking/router:Router", "r"),
      };
      embedder.engine.state({ resources: [ofIdentity, holding("ours"), router] });
      offer("ports", [
        port("lost", { description }),
        port("of a machine", { device_owner: "compute:nova" }),
        port("of DHCP", { device_owner: "network:dhcp" }),
        port("of Octavia", { device_owner: "Octavia" }),
        port("elsewhere", { network_id: "theirs" }),
        port("of our router", { device_owner: "network:router_interface", device_id: "router" }),
        port("of a router", { device_owner: "network:router_interface", device_id: "another" }),
        port("of an HA router", { device_owner: "network:ha_router_replicated_interface" }),
      ]);
      await embedder.service().destroy("dev", { onNote });
      assert.deepEqual(deletions, [["lost", ["hold"]]]);
      assert.deepEqual(embedder.engine.operations(), ["hold", "destroy"]);
      const named = notes.filter((text) => text.includes("blocks the deletion"));
      assert.deepEqual(
        named.map((text) => /^! The port '(.+?)'/.exec(text)?.[1]),
        ["of a machine", "of a router", "of an HA router"],
      );
    });

    it("is deleted even if the cloud refuses to list routers", async () => {
      embedder.engine.state({ resources: [ofIdentity, holding("ours")] });
      let asked = 0;
      embedder.cloud.on("GET /network/routers", () =>
        (asked += 1) === 1 ? { status: 403, body: {} } : { body: { routers: [] } },
      );
      offer("ports", [port("lost", { description })]);
      await embedder.service().destroy("dev", { onNote });
      assert.equal(deletions[0]?.[0], "lost");
    });

    it("causes no extra engine calls in a destroy if no such object exists", async () => {
      embedder.engine.state({ resources: [ofIdentity, holding("ours")] });
      await embedder.service().destroy("dev", { onNote });
      assert.deepEqual([notes, embedder.engine.operations()], [[], ["destroy"]]);
    });
  });
});
