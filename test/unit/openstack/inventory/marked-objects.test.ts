import assert from "node:assert/strict";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import {
  deleteObject,
  deleteOrphans,
  findOwnedObjects,
} from "../../../../openstack/inventory/marked-objects.js";
import {
  getClusterDescription,
  getClusterTags,
  getServerGroupName,
} from "../../../../openstack/inventory/ownership.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { projectOfEach } from "../../../support/cloud/empty-project.js";
import { fakeUser } from "../../../support/cloud/fake-openstack.js";

const fast = { interval: 1, timeout: 10_000 };
const mark = { name: "dev", identity: "0123456789ab" };
const other = { name: "dev", identity: "ba9876543210" };
const tags = getClusterTags(mark);
const identities = new Set([mark.identity]);

describe("objects that a cluster left", () => {
  const cloud = projectOfEach();
  const written = (): string[] =>
    cloud.seen
      .filter(({ method, path }) => method !== "GET" && !path.endsWith("/tokens"))
      .map(({ method, path }) => `${method} ${path}`);

  it("are found by their marks, with the claim; foreign objects are omitted", async () => {
    cloud.on("GET /network/networks", {
      body: {
        networks: [
          { id: "n", name: "dev", tags },
          { id: "f", name: "dev" },
          { id: "o", name: "dev", tags: getClusterTags(other) },
        ],
      },
    });
    cloud.on("GET /load-balancer/lbaas/loadbalancers", {
      body: {
        loadbalancers: [
          { id: "l", name: "kube_service_dev-0123456789ab_a_b" },
          { id: "m", name: "kube_service_dev-ba9876543210_a_b" },
          { id: "k", name: "kube_service_dev_a_b" },
          { id: "a", name: "dev-api", tags },
          { id: "b", name: "dev-api", tags: getClusterTags(other) },
        ],
      },
    });
    const found = await findOwnedObjects(await cloud.connect(), identities);
    assert.deepEqual(
      found.map(({ id, claim }) => `${id}: ${claim}`),
      ["l: load balancer of a Service", "a: marked by stackadm", "n: marked by stackadm"],
    );
  });

  it("include objects without tags, because a run may end before it has set the tags", async () => {
    const description = getClusterDescription(mark, "Kubernetes API");
    cloud.on("GET /network/floatingips", {
      body: {
        floatingips: [
          { id: "f", description },
          { id: "o", description: getClusterDescription(other, "Kubernetes API") },
          { id: "n", description: "Kubernetes API of cluster dev" },
        ],
      },
    });
    cloud.on("GET /compute/os-server-groups", {
      body: {
        server_groups: [
          { id: "g", name: getServerGroupName(mark, "general"), members: [] },
          { id: "o", name: getServerGroupName(other, "general"), members: [] },
        ],
      },
    });
    const found = await findOwnedObjects(await cloud.connect(), identities);
    assert.deepEqual(
      found.map(({ kind, id }) => `${kind} ${id}`),
      ["floating IP f", "server group g"],
    );
  });

  it("are deleted so that none is in use: balancers, servers, router without routes, network", async () => {
    const orphans = (
      [
        ["network", "n"],
        ["router", "r"],
        ["server", "s"],
        ["load balancer", "l"],
        ["port", "p"],
      ] as const
    ).map(([kind, id]) => ({
      ...object({ kind, id, tags }),
      mark,
      claim: "marked by stackadm" as const,
    }));
    for (const path of ["network/routers/r", "network/networks/n", "network/ports/p"])
      cloud.on(`DELETE /${path}`, { status: 204 });
    cloud.on("DELETE /load-balancer/lbaas/loadbalancers/l", { status: 204 });
    cloud.on("POST /compute/servers/s/action", { status: 202 });
    const route = { destination: "10.244.0.0/24", nexthop: "10.0.0.5" };
    cloud.on("GET /network/routers/r", { body: { router: { id: "r", routes: [route] } } });
    cloud.on("PUT /network/routers/r", { body: {} });
    cloud.on("GET /network/ports", {
      body: {
        ports: [
          { id: "i", device_owner: "network:router_interface" },
          { id: "g", device_owner: "network:router_gateway" },
        ],
      },
    });
    cloud.on("PUT /network/routers/r/remove_router_interface", { body: {} });
    const said: string[] = [];
    await deleteOrphans(await cloud.connect(), orphans, {
      ...fast,
      onDelete: ({ id }) => {
        said.push(id);
      },
    });
    assert.deepEqual(said, ["l", "s", "r", "p", "n"]);
    assert.deepEqual(written(), [
      "DELETE /load-balancer/lbaas/loadbalancers/l?cascade=true",
      "POST /compute/servers/s/action",
      "PUT /network/routers/r",
      "PUT /network/routers/r/remove_router_interface",
      "DELETE /network/routers/r",
      "DELETE /network/ports/p",
      "DELETE /network/networks/n",
    ]);
  });

  describe("of which one is a server", () => {
    const server = object({ kind: "server", id: "s", name: "dev-a-0" });
    const remove = async (): Promise<string[]> => {
      await deleteObject(await cloud.connect(), server, fast);
      return written();
    };
    const [action, deletion] = ["POST /compute/servers/s/action", "DELETE /compute/servers/s"];

    it("are deleted with force, so that soft deletion keeps no port and no volume in use", async () => {
      cloud.on(action, ({ body }) => {
        assert.deepEqual(body, { forceDelete: null });
        return { status: 202 };
      });
      assert.deepEqual(await remove(), [action]);
    });

    for (const status of [400, 403, 404, 500])
      it(`are deleted without force if Nova refuses it (${status})`, async () => {
        cloud.on(action, { status, body: {} });
        cloud.on(deletion, { status: 204 });
        assert.equal((await remove()).at(-1), deletion);
      });

    it("are deleted with force again if Nova refused it during another change", async () => {
      const statuses = [409, 202];
      cloud.on(action, () => ({ status: statuses.shift() ?? 500, body: {} }));
      assert.deepEqual(await remove(), [action, action]);
    });

    it("are gone if Nova knows none", async () => {
      assert.deepEqual(await remove(), [action, deletion]);
    });
  });

  it("include a credential's access rules, unless another credential uses the rules", async () => {
    const credential = object({ kind: "application credential", id: "c" });
    const user = `/identity/v3/users/${fakeUser}`;
    const rules = ["gone", "shared", "own"].map((id) => ({ id, service: "network" }));
    cloud.on(`GET ${user}/application_credentials/c`, {
      body: { application_credential: { id: "c", access_rules: rules } },
    });
    cloud.on(`DELETE ${user}/application_credentials/c`, { status: 204 });
    cloud.on(`DELETE ${user}/access_rules/own`, { status: 204 });
    cloud.on(`DELETE ${user}/access_rules/shared`, {
      status: 403,
      body: { error: { message: "May not delete access rule in use" } },
    });
    await deleteObject(await cloud.connect(), credential, fast);
    assert.deepEqual(written(), [
      `DELETE ${user}/application_credentials/c`,
      ...rules.map(({ id }) => `DELETE ${user}/access_rules/${id}`),
    ]);
  });

  it("are reported if access rules remain, after all rules were tried, because nothing else lists them", async () => {
    const user = `/identity/v3/users/${fakeUser}`;
    const rules = ["stuck", "own"].map((id) => ({ id, service: "network" }));
    cloud.on(`GET ${user}/application_credentials/c`, {
      body: { application_credential: { id: "c", access_rules: rules } },
    });
    cloud.on(`DELETE ${user}/application_credentials/c`, { status: 204 });
    cloud.on(`DELETE ${user}/access_rules/own`, { status: 204 });
    cloud.on(`DELETE ${user}/access_rules/stuck`, { status: 400 });
    await assert.rejects(
      async () =>
        deleteObject(
          await cloud.connect(),
          object({ kind: "application credential", id: "c" }),
          fast,
        ),
      (error: unknown) =>
        error instanceof CloudError &&
        /access rules of it are left: stuck \(/.test(error.message) &&
        error.hint === "Delete them: `openstack access rule delete stuck`.",
    );
    assert.equal(written().at(-1), `DELETE ${user}/access_rules/own`);
  });

  it("may include a credential without access rules or one that is already deleted", async () => {
    const credential = object({ kind: "application credential", id: "c" });
    const path = `/identity/v3/users/${fakeUser}/application_credentials/c`;
    await deleteObject(await cloud.connect(), credential, fast);
    cloud.on(`GET ${path}`, { body: { application_credential: { id: "c" } } });
    cloud.on(`DELETE ${path}`, { status: 204 });
    await deleteObject(await cloud.connect(), credential, fast);
    assert.deepEqual(written(), [`DELETE ${path}`, `DELETE ${path}`]);
  });

  it("may be deleted already", async () => {
    cloud.on("DELETE /network/ports/p", { status: 404 });
    await deleteObject(await cloud.connect(), object({ kind: "port", id: "p" }), fast);
    assert.deepEqual(written(), ["DELETE /network/ports/p"]);
  });

  it("are left alone after a cancellation", async () => {
    const stop = new AbortController();
    cloud.on("DELETE /network/ports/p", () => {
      stop.abort();
      return { status: 204 };
    });
    const [router, port, network] = (["router", "port", "network"] as const).map((kind) =>
      object({ kind, id: kind.slice(0, 1) }),
    );
    assert.ok(router && port && network);
    const { signal } = stop;
    await assert.rejects(
      async () => deleteOrphans(await cloud.connect(), [port, network], { ...fast, signal }),
      { name: "AbortError" },
    );
    await assert.rejects(
      async () => deleteObject(await cloud.connect(), router, { ...fast, signal }),
      {
        name: "AbortError",
      },
    );
    assert.deepEqual(written(), ["DELETE /network/ports/p"]);
  });

  it("are all processed within their kind before an error is reported", async () => {
    cloud.on("DELETE /network/ports/forbidden", { status: 403, body: {} });
    let tries = 0;
    cloud.on("DELETE /network/ports/used", () => ({ status: (tries += 1) < 5 ? 409 : 204 }));
    const ports = ["forbidden", "used"].map((id) => object({ kind: "port", id }));
    await assert.rejects(async () => deleteOrphans(await cloud.connect(), ports, fast), /403/);
    assert.equal(tries, 5);
  });

  it("are not retried if the cloud forbids the deletion", async () => {
    cloud.on("DELETE /compute/servers/s", {
      status: 403,
      body: { forbidden: { message: "policy" } },
    });
    await assert.rejects(
      async () => deleteObject(await cloud.connect(), object({ id: "s" }), fast),
      /403: policy/,
    );
    assert.deepEqual(written(), ["POST /compute/servers/s/action", "DELETE /compute/servers/s"]);
  });
});
