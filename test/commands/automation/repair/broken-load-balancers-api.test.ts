import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getClusterTags } from "../../../../openstack/inventory/ownership.js";
import { providerType } from "../../../support/cloud/claimed-volumes.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { commandType, networkType, stepEvent, urnOf } from "../../../support/engine/fake-engine.js";
import {
  balancerInState,
  besideBalancer,
  identity,
  type Recorded,
} from "../../../support/cloud/load-balancer-state.js";
import { startFakeCluster } from "../../../support/cloud/ready-cluster.js";

const path = "/load-balancer/lbaas/loadbalancers";

describe("a load balancer in ERROR in front of the cluster's API", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let notes: string[];
  /** Operations that the engine had run at the time of each deletion. */
  let deletions: (readonly string[])[];
  const onNote = (text: string): void => void notes.push(text);
  const left = (): Recorded[] => embedder.engine.stateNow()?.deployment["resources"] as Recorded[];
  let api: Server;
  /** Status code that the API returns. */
  let code: number;
  const object = "kubernetes:core/v1:Service";
  beforeEach(async () => {
    embedder = await Embedder.start();
    [notes, deletions, code] = [[], [], 200];
    const { cloud, engine } = embedder;
    const tags = getClusterTags({ name: "dev", identity });
    const loadbalancer = { id: "lb", name: "dev-api", provisioning_status: "ERROR", tags };
    const exists = (): boolean => deletions.length === 0;
    cloud.on(`GET ${path}`, () => ({ body: { loadbalancers: exists() ? [loadbalancer] : [] } }));
    cloud.on(`GET ${path}/lb`, () => (exists() ? { body: { loadbalancer } } : { status: 404 }));
    cloud.on(`DELETE ${path}/lb`, () => {
      deletions.push(engine.operations());
      return { status: 204 };
    });
    api = createServer((_, response) => {
      response.writeHead(code).end("{}");
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    const cluster = await startFakeCluster();
    await cluster.close();
    const address = `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`;
    const kubeconfig = cluster.kubeconfig.replace(/server: \S+/, `server: ${address}`);
    const urn = urnOf(providerType, "dev-addons-provider");
    const provider = {
      urn,
      type: "pulumi:providers:kubernetes",
      id: "p",
      inputs: { kubeconfig },
    };
    const ofCluster = { custom: true, provider: `${urn}::p` };
    const web = { urn: urnOf(object, "web"), type: object, id: "shop/web", ...ofCluster };
    const leaving = `stackadm:index:Cluster$command:remote:Command`;
    const goesWith = { deletedWith: urnOf(networkType, "dev-net") };
    const config = "kubernetes:core/v1:ConfigMap";
    engine.state({
      resources: [
        ...[...besideBalancer(), ...balancerInState({}, {}), provider, web],
        { urn: urnOf(config, "conf"), type: config, id: "conf", ...ofCluster, ...goesWith },
        {
          urn: urnOf(leaving, "dev-worker-0-leave"),
          type: "command:remote:Command",
          custom: true,
          id: "leave",
          inputs: { delete: "sudo -n bash -s" },
          ...goesWith,
        },
      ],
    });
  });
  afterEach(async () => {
    await embedder.stop();
    api.close();
  });

  it("is deleted after the destroy of the cluster's Services", async () => {
    await embedder.service().destroy("dev", { onNote });
    assert.deepEqual(deletions, [["destroy", "hold"]]);
    assert.deepEqual(embedder.engine.operations(), ["destroy", "hold", "destroy", "destroy"]);
    const [first, last] = embedder.engine.calls().filter((call) => call.startsWith("destroy"));
    assert.match(first ?? "", new RegExp(`--target \\S+${object}::web .*--target-dependents`));
    assert.equal(first?.split("--target ").length, 2, "and nothing else");
    assert.doesNotMatch(last ?? "", /--target/);
  });

  it("stays if Octavia refuses the deletion, and the next `up` repairs the cluster", async () => {
    const inControlPlane = `stackadm:kubeadm:ControlPlane$${commandType}`;
    const inputs = { create: "c", update: "u" };
    const urn = urnOf(inControlPlane, "dev-control-plane-0-init");
    const init = { urn, type: commandType, custom: true, id: "init", inputs };
    embedder.engine.state({ resources: [...left(), init] });
    const teardown = { type: inControlPlane, name: "dev-control-plane-teardown", op: "delete" };
    const events = [
      stepEvent("resourcePreEvent", teardown),
      stepEvent("resOutputsEvent", teardown),
    ];
    embedder.engine.runs({ destroy: { events } });
    embedder.cloud.on(`DELETE ${path}/lb`, { status: 403, body: {} });
    await assert.rejects(embedder.service().destroy("dev", { onNote }));
    assert.deepEqual(embedder.engine.operations(), ["destroy", "hold"]);
    const marked = left().find(({ id }) => id === "init");
    assert.deepEqual(marked?.["inputs"], { ...inputs, update: "did not come to its end" });
  });

  it("is reported if the API fails", async () => {
    code = 401;
    await fails(embedder.service().destroy("dev", { onNote }), "KUBERNETES_LOGIN_REFUSED");
    assert.match(notes.join("\n"), /^! The load balancer .* is in ERROR/);
    assert.deepEqual([deletions, embedder.engine.operations()], [[], []]);
  });
});
