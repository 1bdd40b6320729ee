import assert from "node:assert/strict";
import { readClustersInState } from "../../../../automation/engine/kubernetes-providers.js";
import { Engine, instanceType, urnOf } from "../../../support/engine/fake-engine.js";

const server = { urn: urnOf(instanceType, "vm"), type: instanceType, custom: true, id: "1" };

describe("readClustersInState", () => {
  let engine: Engine;
  beforeEach(() => {
    engine = new Engine();
  });
  afterEach(() => {
    engine.remove();
  });
  const providerType = "pulumi:providers:kubernetes";
  const provider = (kubeconfig: unknown, cluster = "dev") => ({
    urn: urnOf(`stackadm:addons:Addons$${providerType}`, `${cluster}-addons-provider`),
    type: providerType,
    inputs: { kubeconfig },
  });
  const own = (urn: string) => ({ urn, type: providerType, inputs: { kubeconfig: "of another" } });
  const kubeconfigs = async (): Promise<string[]> =>
    (await readClustersInState(engine.access())).map(
      ({ name, kubeconfig }) => `${name}: ${kubeconfig}`,
    );

  it("finds clusters by the kubeconfig of their provider, before the stack has outputs", async () => {
    engine.state({
      resources: [server, provider({ plaintext: '"the kubeconfig\\n"' })],
    });
    assert.deepEqual(await kubeconfigs(), ["dev: the kubeconfig\n"]);
    engine.state({ resources: [provider("in clear")] });
    assert.deepEqual(await kubeconfigs(), ["dev: in clear"]);
  });

  it("assigns each cluster its own provider and ignores the program's other providers", async () => {
    const others = [
      own(`urn:pulumi:dev::stackadm::${providerType}::dev-addons-provider`),
      own(urnOf(providerType, "fleet")),
      own(`urn:pulumi:dev::stackadm::my:index:Fleet$${providerType}::fleet-addons-provider`),
    ];
    engine.state({ resources: [...others, provider("one"), provider("two", "test")] });
    assert.deepEqual(await kubeconfigs(), ["dev: one", "test: two"]);
  });

  it("returns nothing without a provider or without its kubeconfig", async () => {
    for (const resources of [undefined, [], [server], [provider(undefined)]]) {
      engine.state({ resources });
      assert.deepEqual(await kubeconfigs(), []);
    }
  });
});
