import { strict as assert } from "node:assert";
import { Cluster } from "../../components/cluster.js";
import { clusterRows } from "../support/graph/cluster-rows.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { graph, type Row } from "../support/graph/graph.js";
import { smallest } from "../support/config/spec.js";

describe("a protected cluster", () => {
  const build = (protect: boolean): Promise<readonly Row[]> =>
    clusterRows({ ...smallest, samples: true, protect });
  const held = (rows: readonly Row[]): readonly string[] =>
    rows.filter(({ protect }) => protect).map(({ name }) => name);

  it("protects only its identity, and only if the user sets `protect`", async () => {
    assert.deepEqual(held(await build(true)), ["dev-identity"]);
    assert.deepEqual(held(await build(false)), []);
  });

  it("keeps its identity protected by the resource option of the component", async () => {
    const make = (): Cluster => new Cluster("dev", smallest, { protect: true });
    const rows = await graph(make, cloudAnswers);
    assert.ok(held(rows).includes("dev-identity"));
  });
});
