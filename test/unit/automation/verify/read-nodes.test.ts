import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { KubernetesApi } from "../../../../automation/verify/kubernetes-client.js";
import { readNodes } from "../../../../automation/verify/read-nodes.js";

const role = "node-role.kubernetes.io/control-plane";
const ready = { type: "Ready", status: "True" };

interface Made {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly taints?: { key: string }[];
  readonly status?: Readonly<Record<string, unknown>>;
}

const node = (name: string, { labels = {}, annotations, taints, status }: Made = {}) => ({
  metadata: { name, labels, annotations, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { taints },
  status: { nodeInfo: { kubeletVersion: "v1.36.3" }, conditions: [ready], ...status },
});

describe("readNodes", () => {
  let server: Server;
  let api: KubernetesApi;
  let items: unknown[];
  beforeEach(async () => {
    server = createServer((_request, response) => {
      response.end(JSON.stringify({ items }));
    });
    await new Promise<void>((listening) => {
      server.listen(0, "127.0.0.1", listening);
    });
    api = new KubernetesApi({
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const only = async (made: Made) => {
    items = [node("n", made)];
    const [found] = await readNodes(api);
    assert.ok(found);
    return found;
  };

  it("returns the next certificate of control planes in the expected format only", async () => {
    const said = "2027-09-24T03:31:14Z 2027-11-24T03:31:14Z pki/etcd/server.crt";
    const of = async (text: string, labels: Record<string, string> = { [role]: "" }) =>
      (await only({ labels, annotations: { "stackadm.io/certificates": text } })).certificate;
    assert.deepEqual(await of(said), {
      file: "pki/etcd/server.crt",
      by: "2027-09-24T03:31:14Z",
      end: "2027-11-24T03:31:14Z",
    });
    assert.equal(await of(said, {}), undefined);
    for (const other of ["", `${said}\u001b[2J`, said.slice(1), `x ${said}`])
      assert.equal(await of(other), undefined, other);
  });

  it("sorts control planes first, then by name, with any order of the API", async () => {
    const all = [
      node("c", { labels: { [role]: "" } }),
      node("a", { labels: { "stackadm.io/pool": "general" } }),
      node("b"),
    ];
    const order = fc.shuffledSubarray(all, { minLength: all.length });
    await fc.assert(
      fc.asyncProperty(order, async (shuffled) => {
        items = shuffled;
        const names = (await readNodes(api)).map(({ name }) => name);
        assert.deepEqual(names, ["c", "a", "b"]);
      }),
      { numRuns: 12 },
    );
  });

  it("returns a node's pool, and 'worker' without a pool", async () => {
    assert.equal((await only({ labels: { "stackadm.io/pool": "gpu" } })).role, "gpu");
    assert.equal((await only({})).role, "worker");
    assert.equal(
      (await only({ labels: { [role]: "", "stackadm.io/pool": "x" } })).role,
      "control plane",
    );
  });

  it("returns the first address of each type, or nothing", async () => {
    const addresses = [
      { type: "InternalIP", address: "10.0.0.10" },
      { type: "InternalIP", address: "fd00::10" },
      { type: "ExternalIP", address: "203.0.113.7" },
    ];
    const { internalAddress, externalAddress } = await only({ status: { addresses } });
    assert.deepEqual([internalAddress, externalAddress], ["10.0.0.10", "203.0.113.7"]);
    assert.equal((await only({})).internalAddress, "");
  });

  it("reports nodes as not ready until the cloud controller has initialised them", async () => {
    const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized" }];
    const found = await only({ taints });
    assert.deepEqual(
      [found.ready, found.reason],
      [false, "the cloud controller manager has not initialized it"],
    );
  });

  it("reports nodes with other taints as ready, such as control planes", async () => {
    assert.equal((await only({ taints: [{ key: `${role}:NoSchedule` }] })).ready, true);
  });

  for (const status of ["False", "Unknown"])
    it(`reports nodes with condition ${status} as not ready, with the kubelet's reason`, async () => {
      const condition = { type: "Ready", status, message: "Kubelet stopped posting node status." };
      const found = await only({ status: { conditions: [condition] } });
      assert.deepEqual(
        [found.ready, found.reason],
        [false, "Kubelet stopped posting node status."],
      );
    });

  it("reports nodes as not ready while the cloud has no route to their pods", async () => {
    const network = (status: string) => ({
      type: "NetworkUnavailable",
      status,
      message: "RouteController failed to create a route",
    });
    const cut = await only({ status: { conditions: [network("True"), ready] } });
    assert.deepEqual([cut.ready, cut.reason], [false, "RouteController failed to create a route"]);
    assert.equal((await only({ status: { conditions: [network("False"), ready] } })).ready, true);
  });

  it("returns no reason exactly for ready nodes", async () => {
    for (const conditions of [[ready], [], [{ type: "Ready", status: "False" }]]) {
      const found = await only({ status: { conditions } });
      assert.equal(found.reason === "", found.ready);
    }
  });

  it("returns nothing for a cluster without nodes", async () => {
    items = [];
    assert.deepEqual(await readNodes(api), []);
  });
});
