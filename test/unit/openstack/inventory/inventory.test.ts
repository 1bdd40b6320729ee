import assert from "node:assert/strict";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import {
  compareInventories,
  inventoryKinds,
  listObjects,
  takeInventory,
  listVisibleObjects,
} from "../../../../openstack/inventory/inventory.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { projectOfEach } from "../../../support/cloud/empty-project.js";
import { fakeProject, fakeUser, startFakeCloud } from "../../../support/cloud/fake-openstack.js";

describe("takeInventory", () => {
  const cloud = projectOfEach();

  it("lists every kind, and shared services for this project only", async () => {
    assert.deepEqual(await takeInventory(await cloud.connect()), []);
    const asked = cloud.seen.filter(({ method }) => method === "GET");
    assert.equal(asked.length, inventoryKinds.length);
    for (const { path } of asked.filter(({ path: p }) => /^\/(network|load-balancer)/.test(p)))
      assert.ok(path.endsWith(`project_id=${fakeProject}`), path);
  });

  it("converts every service's response to the same format", async () => {
    cloud.on("GET /compute/servers/detail", {
      body: {
        servers: [
          { id: "s", name: "a", status: "ACTIVE", hostId: "h", metadata: { k: "v" }, tags: ["t"] },
          { id: "new", flavor: { vcpus: 2, ram: 2048, disk: 20, original_name: "small" } },
          { id: "old", flavor: { id: "f", links: [] } },
        ],
      },
    });
    cloud.on("GET /load-balancer/lbaas/loadbalancers", {
      body: {
        loadbalancers: [{ id: "l", name: "b", provisioning_status: "ERROR", description: "d" }],
      },
    });
    cloud.on("GET /compute/os-keypairs", { body: { keypairs: [{ keypair: { name: "key" } }] } });
    cloud.on("GET /network/floatingips", {
      body: { floatingips: [{ id: "f", floating_ip_address: "192.0.2.1", status: "DOWN" }] },
    });
    cloud.on("GET /network/ports", {
      body: { ports: [{ id: "p", name: "", device_owner: "network:dhcp", status: "ACTIVE" }] },
    });
    assert.deepEqual(await takeInventory(await cloud.connect()), [
      object({ kind: "load balancer", id: "l", name: "b", description: "d", status: "ERROR" }),
      object({
        id: "s",
        name: "a",
        status: "ACTIVE",
        host: "h",
        metadata: { k: "v" },
        tags: ["t"],
      }),
      object({ id: "new", capacity: { vcpus: 2, ram: 2048 } }),
      object({ id: "old" }),
      object({ kind: "floating IP", id: "f", name: "192.0.2.1", status: "DOWN" }),
      object({ kind: "port", id: "p", status: "ACTIVE", owner: "network:dhcp" }),
      object({ kind: "key pair", id: "key", name: "key" }),
    ]);
  });

  it("follows links to the next page of Nova and Neutron", async () => {
    const link = (query: string) => [
      { rel: "next", href: `http://elsewhere/other/prefix?${query}` },
    ];
    cloud.on("GET /compute/servers/detail", ({ path }) =>
      path.includes("marker=1")
        ? { body: { servers: [{ id: "2" }] } }
        : { body: { servers: [{ id: "1" }], servers_links: link("marker=1") } },
    );
    const servers = await listObjects(await cloud.connect(), "server");
    assert.deepEqual(
      servers.map(({ id }) => id),
      ["1", "2"],
    );
  });

  it("filters every page by project, even if the link omits the filter", async () => {
    const path = "GET /load-balancer/lbaas/loadbalancers";
    cloud.on(path, ({ path: asked }) => {
      const href = "http://x/v2.0/lbaas/loadbalancers?limit=1&marker=1";
      const next = asked.includes("marker=1") ? [] : [{ rel: "next", href }];
      return { body: { loadbalancers: [{ id: asked }], loadbalancers_links: next } };
    });
    const [first, second] = await listObjects(await cloud.connect(), "load balancer");
    const [collection, mine] = ["/load-balancer/lbaas/loadbalancers", `project_id=${fakeProject}`];
    assert.equal(first?.id, `${collection}?${mine}`);
    assert.equal(second?.id, `${collection}?limit=1&marker=1&${mine}`);
  });

  it("returns the hidden kinds that a cloud may hide, and throws other errors", async () => {
    cloud.on("GET /network/routers", { body: { routers: [{ id: "r" }] } });
    cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    const client = await cloud.connect();
    assert.deepEqual(await listVisibleObjects(client), {
      objects: [object({ kind: "router", id: "r" })],
      hidden: ["load balancer"],
      lacking: [],
    });
    await assert.rejects(takeInventory(client), /403/);
    await assert.rejects(
      listVisibleObjects(client, (kind) => kind === "load balancer"),
      /403/,
    );
    cloud.on("GET /network/routers", { status: 400, body: {} });
    await assert.rejects(listVisibleObjects(client), /400/);
  });

  it("throws if a proxy answers 404 for Nova or Neutron, which every cloud has", async () => {
    const proxy = { status: 404, body: "default backend - 404" };
    cloud.on("GET /load-balancer/lbaas/loadbalancers", proxy);
    const client = await cloud.connect();
    assert.deepEqual((await listVisibleObjects(client)).hidden, ["load balancer"]);
    for (const path of ["/network/security-groups", "/compute/os-server-groups"]) {
      cloud.on(`GET ${path}`, proxy);
      await assert.rejects(listVisibleObjects(client), /a proxy or ingress answered 404 instead/);
      cloud.on(`GET ${path}`, { status: 404 });
    }
    const { hidden } = await listVisibleObjects(client);
    assert.deepEqual(hidden, ["load balancer", "security group", "server group"]);
  });

  it("treats a Keystone without application credentials as an empty list", async () => {
    cloud.on(`GET /identity/v3/users/${fakeUser}/application_credentials`, { status: 404 });
    const client = await cloud.connect();
    const lacking = ["application credential"];
    assert.deepEqual(await listVisibleObjects(client), { objects: [], hidden: [], lacking });
    assert.deepEqual(await takeInventory(client), []);
  });

  it("stops if a page links to itself", async () => {
    cloud.on("GET /network/routers", ({ path }) => ({
      body: { routers: [{ id: path }], routers_links: [{ rel: "next", href: `http://x${path}` }] },
    }));
    assert.equal((await listObjects(await cloud.connect(), "router")).length, 1);
  });

  it("returns nothing for a service that the cloud lacks", async () => {
    const small = await startFakeCloud({ services: ["compute"] });
    const client = await connectCloud({ env: small.environment() });
    assert.deepEqual(await listObjects(client, "volume"), []);
    await small.close();
  });
});

describe("compareInventories", () => {
  it("returns added and removed objects", () => {
    const [a, b, c] = ["a", "b", "c"].map((id) => object({ id }));
    assert.ok(a && b && c);
    assert.deepEqual(compareInventories([a, b], [b, c]), { added: [c], removed: [a] });
  });

  it("compares by kind and ID, not by name or status", () => {
    const before = object({ id: "1", name: "x", status: "BUILD" });
    const after = object({ id: "1", name: "y", status: "ACTIVE" });
    assert.deepEqual(compareInventories([before], [after]), { added: [], removed: [] });
    const port = object({ kind: "port", id: "1" });
    assert.deepEqual(compareInventories([before], [port]).added, [port]);
  });

  it("ignores DHCP ports, which Neutron creates and deletes by itself", () => {
    const dhcp = object({ kind: "port", owner: "network:dhcp" });
    assert.deepEqual(compareInventories([], [dhcp]), { added: [], removed: [] });
  });
});
