import assert from "node:assert/strict";
import { Embedder } from "../../../support/engine/embedder.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

const command = "command:remote:Command";
const readiness = "stackadm:kubeadm:Readiness";
const resources = [
  {
    urn: urnOf(`c$stackadm:kubeadm:ControlPlane$${command}`, "dev-control-plane-0-init"),
    type: command,
    id: "i",
    custom: true,
    inputs: { update: "u" },
    outputs: {},
  },
  {
    urn: urnOf(`c$${readiness}`, "dev-readiness"),
    type: readiness,
    outputs: {
      kubeconfigValidity: { from: "2020-01-01T00:00:00Z", to: "2021-01-01T00:00:00Z" },
    },
  },
];

describe("a kubeconfig whose certificate expires soon", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let notes: string[];
  beforeEach(async () => {
    embedder = await Embedder.start();
    embedder.engine.state({ resources });
    notes = [];
  });
  afterEach(() => embedder.stop());
  const onNote = (text: string): void => {
    notes.push(text);
  };
  const imports = (): number =>
    embedder.engine.calls().filter((call) => call.startsWith("stack import")).length;

  it("is fetched again by `up`, before the engine plans", async () => {
    await embedder.service().up("dev", { verify: false, kubeconfigFile: false, onNote });
    assert.equal(imports(), 1);
    assert.match(notes.join("\n"), /^The kubeconfig's certificate expires soon/m);
  });

  it("is only reported by a preview and with `expectNoChanges`", async () => {
    await embedder.service().preview("dev", { onNote });
    assert.match(notes.join("\n"), /^The kubeconfig's certificate expires soon/m);
    const options = { verify: false, kubeconfigFile: false, expectNoChanges: true };
    await embedder.service().up("dev", options);
    assert.equal(imports(), 0);
  });
});
