import assert from "node:assert/strict";
import {
  proxyPatience,
  sweepLeftovers,
  type SweepOptions,
} from "../../../../automation/destroy/sweep-leftovers.js";
import { Failure } from "../../../../base/failures/failure.js";
import { projectOfEach } from "../../../support/cloud/empty-project.js";

describe("sweepLeftovers", () => {
  const cloud = projectOfEach();
  const run = async (owned: readonly string[] = [], retained: readonly string[] = []) =>
    sweepLeftovers({
      cloud: await cloud.connect(),
      underLock,
      identities: new Set(["0123456789ab"]),
      owned: new Set([...owned, ...retained]),
      retained: new Set(retained),
      interval: 1,
      patience: { ...proxyPatience, interval: 1 },
    });
  let locked: number;
  beforeEach(() => {
    locked = 0;
  });
  const underLock: SweepOptions["underLock"] = async (work) => {
    locked += 1;
    await work({ signal: new AbortController().signal, cloud: () => cloud.connect() });
  };
  const balancer = { id: "l", name: "kube_service_dev-0123456789ab_a_b" };

  it("deletes nothing after a clean destroy and lists each kind once", async () => {
    assert.deepEqual(await run(["gone"]), { deleted: [], kept: [] });
    assert.equal(locked, 0);
    const asked = cloud.seen.map(({ path }) => path).filter((path) => !path.endsWith("/tokens"));
    assert.equal(asked.length, new Set(asked).size, "each is asked once");
    assert.ok(cloud.seen.every(({ method, path }) => method === "GET" || path.endsWith("/tokens")));
  });

  it("deletes a load balancer of the cloud controller and reports the deletion", async () => {
    let balancers = [balancer];
    cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
      body: { loadbalancers: balancers },
    }));
    cloud.on("DELETE /load-balancer/lbaas/loadbalancers/l", () => {
      balancers = [];
      return { status: 204 };
    });
    assert.deepEqual(
      (await run()).deleted.map(({ id }) => id),
      ["l"],
    );
    assert.equal(locked, 1);
    // One request before the deletion, one to verify it, and one at the end.
    const looks = cloud.seen.filter(({ method, path }) =>
      `${method} ${path}`.startsWith("GET /load-balancer"),
    );
    assert.equal(looks.length, 3);
  });

  it("fails while an object of the stack still exists", async () => {
    cloud.on("GET /compute/servers/detail", {
      body: {
        servers: [
          { id: "s", name: "dev-0" },
          { id: "foreign", name: "dev-1" },
        ],
      },
    });
    await assert.rejects(run(["s"]), /not deleted: server 'dev-0'\.$/);
  });

  it("reports the kinds that the cloud does not show, and the retained objects", async () => {
    const metadata = { "cinder.csi.openstack.org/cluster": "dev-0123456789ab" };
    cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    cloud.on("GET /volumev3/volumes/detail", {
      body: { volumes: [{ id: "v", name: "pvc-1", metadata }] },
    });
    const { kept, hidden } = await run();
    assert.deepEqual([kept.map(({ id }) => id), hidden], [["v"], ["load balancer"]]);
  });

  it("fails if a proxy answers instead of Neutron, because objects may then be left", async () => {
    const proxy = { status: 404, body: "default backend - 404" };
    cloud.on("GET /network/security-groups", proxy);
    await assert.rejects(run(), /a proxy or ingress answered 404 instead of the cloud's service/);
  });

  describe("behind a proxy that answers in place of Cinder", () => {
    const proxy = { status: 404, body: "default backend - 404" };
    const metadata = { "cinder.csi.openstack.org/cluster": "dev-0123456789ab" };
    const volumes = { body: { volumes: [{ id: "v", name: "pvc-1", metadata }] } };

    it("finds volumes that the proxy hides for a moment", async () => {
      let answers = 0;
      cloud.on("GET /volumev3/volumes/detail", () => ((answers += 1) < 4 ? proxy : volumes));
      const { kept, hidden } = await run();
      assert.deepEqual([kept.map(({ id }) => id), hidden], [["v"], undefined]);
    });

    it("names volumes as not listed if the proxy always answers", async () => {
      cloud.on("GET /volumev3/volumes/detail", proxy);
      assert.deepEqual((await run()).hidden, ["volume"]);
    });

    it("fails if the proxy hides a kind after the deletions", async () => {
      let asked = 0;
      cloud.on("GET /compute/servers/detail", () => ({
        body: { servers: (asked += 1) === 1 ? [server] : [] },
      }));
      const marks = { "stackadm-cluster": "dev", "stackadm-identity": "0123456789ab" };
      const server = { id: "s", name: "dev-0", metadata: marks };
      cloud.on("POST /compute/servers/s/action", { status: 202 });
      cloud.on("GET /volumev3/volumes/detail", () => (asked > 1 ? proxy : volumes));
      await assert.rejects(run(), /a proxy or ingress answered 404 instead/);
    });
  });

  it("leaves foreign objects with any name alone", async () => {
    cloud.on("GET /compute/servers/detail", { body: { servers: [{ id: "f", name: "dev-0" }] } });
    assert.deepEqual(await run(["s"]), { deleted: [], kept: [] });
  });

  it("leaves a running cluster of the same name alone if another state holds it", async () => {
    const tags = ["stackadm-cluster=dev", "stackadm-identity=ba9876543210"];
    cloud.on("GET /network/networks", { body: { networks: [{ id: "n", name: "dev", tags }] } });
    cloud.on("GET /load-balancer/lbaas/loadbalancers", {
      body: {
        loadbalancers: [
          { id: "a", name: "kube_service_dev_a_b" },
          { id: "b", name: "kube_service_dev-ba9876543210_a_b" },
        ],
      },
    });
    assert.deepEqual(await run(), { deleted: [], kept: [] });
    assert.ok(cloud.seen.every(({ method }) => method !== "DELETE"));
  });

  it("leaves objects without identities alone, with any state", async () => {
    const tags = ["stackadm-cluster=old"];
    cloud.on("GET /network/networks", { body: { networks: [{ id: "n", name: "old", tags }] } });
    const connected = await cloud.connect();
    const [owned, retained] = [new Set<string>(), new Set<string>()];
    const none = { cloud: connected, underLock, identities: new Set([""]), owned, retained };
    assert.deepEqual(await sweepLeftovers(none), { deleted: [], kept: [] });
  });

  it("keeps and reports volumes with data and their snapshots", async () => {
    const metadata = { "cinder.csi.openstack.org/cluster": "dev-0123456789ab" };
    cloud.on("GET /volumev3/volumes/detail", {
      body: { volumes: [{ id: "v", name: "pvc-1", metadata }] },
    });
    cloud.on("GET /volumev3/snapshots/detail", {
      body: { snapshots: [{ id: "s", name: "snapshot-1", metadata }, { id: "theirs" }] },
    });
    const { deleted, kept } = await run();
    assert.deepEqual(deleted, []);
    assert.deepEqual(
      kept.map(({ id, name }) => `${name} ${id}`),
      ["snapshot-1 s", "pvc-1 v"],
    );
  });

  it("keeps and reports the floating IP of a Service, because it cannot be recreated", async () => {
    const description = `Floating IP for Kubernetes external service shop/web from cluster dev-0123456789ab`;
    const floatingips = [{ id: "f", floating_ip_address: "203.0.113.9", description }];
    cloud.on("GET /network/floatingips", { body: { floatingips } });
    const { deleted, kept } = await run();
    assert.deepEqual(
      [deleted, kept.map(({ id, name }) => `${name} ${id}`)],
      [[], ["203.0.113.9 f"]],
    );
  });

  describe("with a machine's volume and its copy", () => {
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": "0123456789ab" };
    let volumes: object[];
    beforeEach(() => {
      volumes = ["original", "copy"].map((id) => ({ id, name: "dev-0-etcd", metadata }));
      cloud.on("GET /volumev3/volumes/detail", () => ({ body: { volumes } }));
      cloud.on("DELETE /volumev3/volumes/original", () => {
        volumes = volumes.slice(1);
        return { status: 202 };
      });
    });
    const ids = (some: readonly { readonly id: string }[]): string[] => some.map(({ id }) => id);

    it("keeps a copy that carries the mark and was in no state", async () => {
      const { deleted, kept } = await run(["original"]);
      assert.deepEqual([ids(deleted), ids(kept)], [["original"], ["copy"]]);
    });

    it("keeps and reports a retained volume", async () => {
      const { deleted, kept } = await run([], ["original"]);
      assert.deepEqual([ids(deleted), ids(kept)], [[], ["copy", "original"]]);
      assert.deepEqual(
        kept.map(({ retained }) => retained),
        [undefined, true],
      );
    });
  });

  it("keeps a retained object without a mark", async () => {
    cloud.on("GET /network/networks", { body: { networks: [{ id: "n", name: "own" }] } });
    const { deleted, kept } = await run([], ["n"]);
    assert.deepEqual(deleted, []);
    assert.deepEqual(
      kept.map(({ id, retained }) => ({ id, retained })),
      [{ id: "n", retained: true }],
    );
  });

  it("suggests deletion by hand for an object without a mark", async () => {
    cloud.on("GET /network/networks", { body: { networks: [{ id: "n", name: "own" }] } });
    await assert.rejects(
      run(["n"]),
      (error: unknown) =>
        error instanceof Failure &&
        /^Delete those without the cluster's identity by hand, by ID: n\. Run the same/.test(
          error.hint,
        ),
    );
  });

  it("marks a retained object of the cluster once, and warns if the cloud refuses", async () => {
    const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
    let network = { id: "n", name: "dev", tags };
    cloud.on("GET /network/networks", () => ({ body: { networks: [network] } }));
    const route = "PUT /network/networks/n/tags/stackadm-kept%3Dretained";
    cloud.on(route, { status: 403, body: {} });
    const refused: string[] = [];
    const options = {
      cloud: await cloud.connect(),
      underLock,
      identities: new Set(["0123456789ab"]),
      owned: new Set<string>(),
      retained: new Set(["n"]),
      onUnmarked: ({ id }: { id: string }) => void refused.push(id),
    };
    await sweepLeftovers(options);
    assert.deepEqual([refused, locked], [["n"], 1]);
    cloud.on(route, () => {
      network = { ...network, tags: [...tags, "stackadm-kept=retained"] };
      return { status: 201 };
    });
    await sweepLeftovers(options);
    const { kept } = await sweepLeftovers(options);
    assert.deepEqual([refused, locked], [["n"], 2]);
    assert.deepEqual(
      kept.map(({ id, retained }) => ({ id, retained })),
      [{ id: "n", retained: true }],
    );
  });

  it("marks a retained object although the deletion of another object fails", async () => {
    const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
    cloud.on("GET /network/networks", { body: { networks: [{ id: "n", name: "dev", tags }] } });
    const groups = [{ id: "g", name: "dev-lost", tags }];
    cloud.on("GET /network/security-groups", { body: { security_groups: groups } });
    cloud.on("DELETE /network/security-groups/g", { status: 403, body: {} });
    const route = "/network/networks/n/tags/stackadm-kept%3Dretained";
    cloud.on(`PUT ${route}`, { status: 201 });
    await assert.rejects(run([], ["n"]), /403/);
    assert.ok(cloud.seen.some(({ method, path }) => method === "PUT" && path === route));
  });

  it("advises to run the same command again, because the state still has the identity", async () => {
    cloud.on("GET /load-balancer/lbaas/loadbalancers", { body: { loadbalancers: [balancer] } });
    cloud.on("DELETE /load-balancer/lbaas/loadbalancers/l", { status: 404 });
    await assert.rejects(
      run(),
      (error: unknown) =>
        error instanceof Failure && error.hint === "Run the same command again: it continues here.",
    );
  });
});
