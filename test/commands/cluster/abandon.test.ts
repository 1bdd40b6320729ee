import assert from "node:assert/strict";
import { providerType } from "../../support/claimed.js";
import { Embedder } from "../../support/embedder.js";
import { urnOf } from "../../support/engine.js";
import { startFakeCluster } from "../../support/ready-cluster.js";

describe("abandoning a cluster", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start();
  });
  afterEach(() => embedder.stop());

  it("forgets what is in it, with whatever provider, and nothing that is in another cluster", async () => {
    const cluster = await startFakeCluster();
    await cluster.close();
    const ofAuthority = (data: string): string =>
      cluster.kubeconfig.replace(/( +)server: .*/, `$&\n$1certificate-authority-data: ${data}`);
    const [kubeconfig, elsewhere] = [ofAuthority("YQ=="), ofAuthority("Yg==")];
    const type = "pulumi:providers:kubernetes";
    const provider = (urn: string, inputs: object) => ({ urn, type, id: "p", inputs });
    const own = (name: string): string => `urn:pulumi:dev::it::${type}::${name}`;
    const providers = [
      provider(urnOf(providerType, "dev-addons-provider"), { kubeconfig }),
      provider(own("same"), { kubeconfig: { plaintext: JSON.stringify(kubeconfig) } }),
      provider(own("another"), { kubeconfig: elsewhere }),
      provider(own("ambient"), {}),
    ];
    const object = "kubernetes:core/v1:ConfigMap";
    const objects = providers.map(({ urn }, index) => ({
      ...{ urn: urnOf(object, String(index)), type: object, id: `ns/${String(index)}` },
      provider: `${urn}::p`,
    }));
    embedder.engine.state({ resources: [...providers, ...objects] });
    // What is left is looked at before the engine takes it away.
    embedder.engine.runs({ destroy: { code: 255, stderr: "error: no\n" } });
    const notes: string[] = [];
    const onNote = (text: string): void => void notes.push(text);
    await assert.rejects(embedder.service().destroy("dev", { abandon: true, onNote }));
    assert.match(notes.join("\n"), /^2 resources that need the cluster's API are forgotten/m);
    const rest = embedder.engine.stateNow()?.deployment["resources"] as { readonly id: string }[];
    assert.deepEqual(
      rest.map(({ id }) => id).filter((id) => id.startsWith("ns/")),
      ["ns/2", "ns/3"],
    );
  });
});
