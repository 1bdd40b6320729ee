import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { Embedder, settingsOf } from "../../../support/engine/embedder.js";
import { instanceType, urnOf } from "../../../support/engine/fake-engine.js";
import { startFakeCluster, type FakeCluster } from "../../../support/cloud/ready-cluster.js";

const identity = {
  urn: urnOf("command:local:Command", "dev-identity"),
  type: "command:local:Command",
  id: "i",
  outputs: { stdout: "0123456789ab" },
};

describe("the kubeconfig files of stacks with the same name", function () {
  this.timeout(120_000);
  let cluster: FakeCluster;
  let embedder: Embedder;
  beforeEach(async () => {
    cluster = await startFakeCluster();
    embedder = await Embedder.start();
    embedder.engine.outputs(cluster.outputs);
    embedder.engine.state({});
  });
  afterEach(async () => {
    await embedder.stop();
    await cluster.close();
  });
  const read = (path: string): string => readFileSync(path, "utf8");
  /** Returns the kubeconfig with another port, as if it belonged to another cluster. */
  const ofAnother = (port: number): string =>
    cluster.kubeconfig.replace(/(server: \S+:)\d+/, `$1${String(port)}`);
  const holdCluster = (): void => {
    const provider = {
      urn: urnOf("stackadm:addons:Addons$pulumi:providers:kubernetes", "dev-addons-provider"),
      type: "pulumi:providers:kubernetes",
      id: "p",
      inputs: { kubeconfig: cluster.kubeconfig },
    };
    const server = { urn: urnOf(instanceType, "vm"), type: instanceType, id: "gone" };
    embedder.engine.state({ resources: [identity, server, provider] });
  };

  it("have one path per backend and project, and a destroy deletes only its own file", async () => {
    const first = await embedder.service().kubeconfigFile("dev");
    embedder.engine.outputs({
      ...cluster.outputs,
      kubeconfig: { value: ofAnother(1), secret: true },
    });
    const backend = embedder.backend;
    embedder.backend = `${backend}-of-others`;
    const second = await embedder.service().kubeconfigFile("dev");
    embedder.backend = backend;
    embedder.write("Pulumi.yaml", "name: other\nruntime: nodejs\n");
    embedder.write("Pulumi.dev.yaml", settingsOf({}).replace("it:cluster", "other:cluster"));
    const { kubeconfigPath: third = "" } = await embedder
      .service()
      .up("dev", { preflight: false, verify: false });
    assert.deepEqual(
      [first, second, third].map((path) => read(path)),
      [cluster.kubeconfig, ofAnother(1), ofAnother(1)],
    );
    holdCluster();
    await embedder.service().destroy("dev");
    assert.deepEqual(
      [first, second, third].map((path) => existsSync(path)),
      [true, true, false],
    );
  });
});
