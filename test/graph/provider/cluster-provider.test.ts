import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import { ClusterProvider } from "../../../components/provider/cluster-provider.js";
import { clusterOutputsSchema } from "../../../components/provider/output-schema.js";
import { prepare } from "../../../components/prepare.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph } from "../../support/graph/graph.js";

const inputs = {
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["203.0.113.0/24"],
  controlPlane: { flavor: "medium" },
  workers: { general: { flavor: "medium", count: 1 } },
  ssh: { publicKey: "ssh-ed25519 AAAALOGIN" },
};
const type = "stackadm:index:Cluster";
const provider = new ClusterProvider("1.2.3", {});

describe("the provider for programs in other languages", () => {
  it("registers the same resources as a TypeScript program", async () => {
    const rows = await graph(() => provider.construct("dev", type, inputs, {}), cloudAnswers);
    const expected = await graph(async () => {
      new Cluster("dev", await prepare({ name: "dev", ...inputs }, { env: {} }));
    }, cloudAnswers);
    assert.ok(rows.length > 80, String(rows.length));
    assert.deepEqual(
      rows.map(({ urn }) => urn),
      expected.map(({ urn }) => urn),
    );
  });

  it("returns every output of its schema, and the kubeconfig as a secret", async () => {
    let state: pulumi.Inputs = {};
    await graph(async () => {
      ({ state } = await provider.construct("dev", type, inputs, {}));
    }, cloudAnswers);
    assert.deepEqual(Object.keys(state), Object.keys(clusterOutputsSchema.shape));
    assert.ok(await pulumi.isSecret(state["kubeconfig"] as pulumi.Output<string>));
  });

  it("refuses invalid arguments with their paths, and registers nothing", async () => {
    let refused: unknown;
    const rows = await graph(async () => {
      const wrong = { ...inputs, image: "", workers: { general: { flavor: "medium" } } };
      refused = await provider.construct("dev", type, wrong, {}).catch((error: unknown) => error);
    }, cloudAnswers);
    assert.ok(pulumi.RunError.isInstance(refused), String(refused));
    assert.match(
      refused.message,
      /^\[INVALID_CONFIG\] The cluster dev is not valid:\n {2}cluster\.image: .*\n {2}cluster\.workers\.general\.count: .*$/,
    );
    assert.deepEqual(
      rows.filter((row) => row.type.startsWith("stackadm:")),
      [],
    );
  });

  it("refuses a resource that it does not have", async () => {
    await assert.rejects(provider.construct("dev", "stackadm:index:Other", {}, {}), /no resource/);
  });
});
