import assert from "node:assert/strict";
import fc from "fast-check";
import { drawUpRun, packLanes, placeTicks } from "../../../../documentation/pictures/up-picture.js";
import { readUpRun } from "../../../../documentation/pictures/up-run.js";
import { findLayoutProblems, listShown } from "../../../support/picture-checks.js";
import { numbered, sampleMoments } from "./sample-run.js";

describe("packLanes", () => {
  it("puts spans that overlap into different lanes, and keeps all spans", () => {
    const span = fc.record({ from: fc.nat(100), length: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(fc.array(span), (drawn) => {
        const spans = drawn.map(({ from, length }, index) => ({
          name: String(index),
          from,
          to: from + length,
        }));
        const lanes = packLanes(spans);
        assert.equal(lanes.flat().length, spans.length);
        const gaps = lanes.flatMap((lane) =>
          lane.map((one, index) => one.from - (lane[index - 1]?.to ?? 0)),
        );
        assert.ok(gaps.every((space) => space >= 0));
      }),
    );
  });
});

describe("placeTicks", () => {
  it("has at most nine lines, from 0 to the end", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 5_000_000 }), (milliseconds) => {
        const ticks = placeTicks(milliseconds);
        assert.ok(ticks.length >= 1 && ticks.length <= 9, String(ticks.length));
        assert.equal(ticks[0], 0);
        assert.ok((ticks.at(-1) ?? 0) <= milliseconds);
      }),
    );
  });
});

describe("drawUpRun", () => {
  it("shows each step, phase and resource, without overlaps", () => {
    const picture = drawUpRun("Timeline", readUpRun(numbered(sampleMoments)));
    assert.deepEqual(listShown(picture).toSorted(), [
      "Ask the cloud",
      "Network, router and addresses",
      "Verify the cluster",
      "one",
      "three",
      "two",
    ]);
    assert.deepEqual(findLayoutProblems(picture), []);
  });

  it("draws bars in proportion to the time", () => {
    const { shapes } = drawUpRun("Timeline", readUpRun(numbered(sampleMoments)));
    const widthOf = (name: string): number => {
      const found = shapes.find((shape) => shape.kind === "box" && shape.shows?.includes(name));
      assert.ok(found?.kind === "box", name);
      return found.width;
    };
    assert.ok(Math.abs(widthOf("two") / widthOf("three") - 4) < 0.01);
  });
});
