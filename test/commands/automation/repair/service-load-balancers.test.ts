import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Embedder } from "../../../support/engine/embedder.js";
import { networkType, urnOf, type Engine } from "../../../support/engine/fake-engine.js";
import { startFakeCluster, type FakeCluster } from "../../../support/cloud/ready-cluster.js";

const identity = "0123456789ab";

describe("a destroy with a load balancer whose Service no longer exists", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cluster: FakeCluster;
  let api: Server;
  /** Load balancers that were deleted, with the operations that the engine had run at that time. */
  let deletions: (readonly [string, readonly string[]])[];
  let notes: string[];
  let services: number;

  beforeEach(async () => {
    embedder = await Embedder.start();
    ({ engine } = embedder);
    cluster = await startFakeCluster();
    [deletions, notes, services] = [[], [], 200];
    const items = [{ metadata: { namespace: "shop", name: "web" } }];
    api = createServer(({ url }, response) => {
      const isServices = url === "/api/v1/services";
      response
        .writeHead(isServices ? services : 200)
        .end(JSON.stringify(isServices ? { items } : {}));
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    const address = `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`;
    const provider = {
      urn: urnOf("stackadm:addons:Addons$pulumi:providers:kubernetes", "dev-addons-provider"),
      type: "pulumi:providers:kubernetes",
      id: "p",
      inputs: { kubeconfig: cluster.kubeconfig.replace(/server: \S+/, `server: ${address}`) },
    };
    const [command, service] = ["command:local:Command", "kubernetes:core/v1:Service"] as const;
    engine.state({
      resources: [
        {
          urn: urnOf(command, "dev-identity"),
          type: command,
          id: "i",
          outputs: { stdout: identity },
        },
        { urn: urnOf(networkType, "dev-network-network"), type: networkType, id: "net" },
        provider,
        {
          urn: urnOf(service, "web"),
          type: service,
          id: "shop/web",
          provider: `${provider.urn}::p`,
        },
      ],
    });
    const own = (name: string, whose = identity) => ({
      id: name,
      name: `kube_service_dev-${whose}_shop_${name}`,
      vip_network_id: "net",
      provisioning_status: "ACTIVE",
    });
    let listed = [own("web"), own("cart"), own("theirs", "ba9876543210")];
    embedder.cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
      body: { loadbalancers: listed },
    }));
    for (const { id } of listed)
      embedder.cloud.on(`DELETE /load-balancer/lbaas/loadbalancers/${id}`, () => {
        deletions.push([id, engine.operations()]);
        listed = listed.filter((one) => one.id !== id);
        return { status: 204 };
      });
  });
  afterEach(async () => {
    api.close();
    await cluster.close();
    await embedder.stop();
  });
  const destroy = (): Promise<unknown> =>
    embedder
      .service()
      .destroy("dev", { onNote: (text) => notes.push(text) })
      .catch((error: unknown) => error);

  it("deletes the load balancer before the engine runs, and only reports a foreign load balancer", async () => {
    await destroy();
    assert.deepEqual(deletions[0], ["cart", ["hold"]]);
    assert.match(
      notes.join("\n"),
      /^Deleting the load balancer .*_cart.*its Service no longer exists/m,
    );
    assert.ok(!deletions.some(([id]) => id === "theirs"));
    assert.match(
      notes.join("\n"),
      /^! The load balancer 'kube_service_dev-ba.*does not belong to the cluster/m,
    );
  });

  it("deletes no load balancer before the engine runs if the Services cannot be listed", async () => {
    services = 500;
    await destroy();
    const before = deletions.filter(([, operations]) => !operations.includes("destroy"));
    assert.deepEqual(before, []);
  });
});
