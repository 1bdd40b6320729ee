import assert from "node:assert/strict";
import type { WhichCluster } from "../../../../automation/engine/operation-options.js";
import { renderClusterLine } from "../../../../automation/render/cluster-line.js";

describe("renderClusterLine", () => {
  const place = { cloud: "prod", region: "one", project: { id: "p", name: "demo" } };
  const nowhere = { clusters: ["shop"], identities: ["0123456789ab"], held: true };
  const shop = { ...nowhere, place };
  const where = "in cloud 'prod', region 'one', project 'demo'";

  const lines: readonly (readonly [string, WhichCluster])[] = [
    [`Cluster 'shop' (identity 0123456789ab) ${where}`, shop],
    [`Cluster 'shop' (no identity) ${where}`, { ...shop, identities: [] }],
    [`Cluster 'shop' (not created yet) ${where}`, { ...shop, identities: [], held: false }],
    [
      `Clusters 'shop', 'test' (identity 0123456789ab, ba9876543210) ${where}`,
      {
        ...shop,
        clusters: ["shop", "test"],
        identities: ["0123456789ab", "ba9876543210"],
      },
    ],
    [
      "Cluster 'shop' (identity 0123456789ab) in cloud 'prod', project 'p'",
      { ...shop, place: { cloud: "prod", region: "", project: { id: "p", name: "" } } },
    ],
    ["Cluster 'shop' (identity 0123456789ab)", nowhere],
  ];
  for (const [line, which] of lines)
    it(line, () => {
      assert.equal(renderClusterLine(which), line);
    });
});
