import { strict as assert } from "node:assert";
import { getValueAt } from "../../../../../stand-ins/kubernetes/objects/json.js";
import { FakeApiServer } from "../support/fake-api-server.js";
import { Harness } from "../support/harness.js";

const urnOf = (type: string): string => `urn:pulumi:dev::test::kubernetes:${type}::x`;

describe("kubernetes stand-in: pulumi.com/waitFor", () => {
  let api: FakeApiServer;
  let provider: Harness;
  beforeEach(async () => {
    api = await FakeApiServer.start();
    provider = await Harness.start();
    await provider.configure({ kubeconfig: api.kubeconfig() });
  });
  afterEach(async () => {
    await provider.stop();
    await api.stop();
  });

  it("waits for the named field instead of the default conditions", async () => {
    api.idle.add("Service");
    const annotations = { "pulumi.com/waitFor": "jsonpath={.status.loadBalancer.ingress}" };
    const metadata = { name: "s", namespace: "default", annotations };
    // The Service has a selector, but the provider must not wait for the selected pods.
    const spec = { type: "LoadBalancer", selector: { app: "web" } };
    const service = { apiVersion: "v1", kind: "Service", metadata, spec };
    const created = provider.create({ urn: urnOf("core/v1:Service"), properties: service });
    const waiting = "info: {.status.loadBalancer.ingress} selected nothing";
    for (let turns = 0; turns < 100_000 && !provider.messages.includes(waiting); turns++)
      await new Promise((next) => setImmediate(next));
    assert.ok(provider.messages.includes(waiting), provider.messages.join("\n"));
    const ingress = [{ ip: "203.0.113.9" }];
    const live = structuredClone(api.find("Service", "s", "default") ?? {});
    api.change(live, { status: { loadBalancer: { ingress } } });
    const { properties } = await created;
    assert.deepEqual(getValueAt(properties, "status", "loadBalancer", "ingress"), ingress);
    assert.ok(provider.messages.includes("info: Found {.status.loadBalancer.ingress}"));
  });

  it("refuses an unknown value", async () => {
    const annotations = { "pulumi.com/waitFor": "condition=Ready" };
    const metadata = { name: "p", namespace: "default", annotations };
    const pod = { apiVersion: "v1", kind: "Pod", metadata };
    const created = provider.create({ urn: urnOf("core/v1:Pod"), properties: pod });
    await assert.rejects(
      created,
      /does not know "pulumi\.com\/waitFor: condition=Ready", only jsonpath=/,
    );
  });
});
