import assert from "node:assert/strict";
import fc from "fast-check";
import { placeGraph, type GraphNode } from "../../../../documentation/pictures/layered-graph.js";

const width = 700;
const gap = 10;

/** Graphs of up to 8 nodes. Each node depends on some of the nodes before it. */
const graphs = fc
  .array(fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), { minLength: 1, maxLength: 8 })
  .map((rows): GraphNode[] =>
    rows.map((row, index) => ({
      key: String(index),
      width: 60,
      after: row.slice(0, index).flatMap((used, before) => (used ? [String(before)] : [])),
    })),
  );

describe("placeGraph", () => {
  it("places each node below all nodes on which the node depends", () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        const { edges, layers } = placeGraph(nodes, { width, gap });
        assert.equal(edges.length, nodes.flatMap(({ after }) => after).length);
        const steps = edges.flatMap((edge) => edge.map(({ layer }, index) => layer - index));
        const starts = edges.flatMap((edge) => edge.map(() => edge[0]?.layer));
        assert.deepEqual(steps, starts);
        assert.ok(layers.every((layer) => layer.length > 0));
      }),
    );
  });

  it("leaves the gap between the nodes of a layer, inside of the width", () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        const { layers } = placeGraph(nodes, { width, gap });
        const sides = layers.flatMap((layer) =>
          layer.map((node, index) => {
            const before = layer[index - 1];
            const left = before ? before.x + before.width / 2 + gap : 0;
            return node.x - node.width / 2 - left;
          }),
        );
        assert.ok(
          sides.every((space) => space > -0.01),
          String(Math.min(...sides)),
        );
        const ends = layers
          .map((layer) => layer.at(-1))
          .map((node) => node && node.x + node.width / 2);
        assert.ok(ends.every((end) => end !== undefined && end < width + 0.01));
      }),
    );
  });

  it("refuses a node that depends on an unknown node", () => {
    const nodes = [{ key: "a", width: 10, after: ["b"] }];
    assert.throws(() => placeGraph(nodes, { width, gap }), /a depends on b, which is no node/);
  });
});
