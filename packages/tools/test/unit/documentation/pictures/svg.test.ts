import assert from "node:assert/strict";
import {
  renderPicture,
  type Line,
  type Picture,
  type Shape,
} from "../../../../documentation/pictures/svg.js";
import {
  findCrossedTexts,
  findLayoutProblems,
  findOverlappingBoxes,
  findOverlappingTexts,
  findTextsOutside,
} from "../../../support/picture-checks.js";

const box = { kind: "box", x: 10, y: 10, width: 100, height: 40, tone: "blue" } as const;
const label = { kind: "label", x: 60, y: 34, text: "a <b> & c", anchor: "middle" } as const;
const line: Line = {
  kind: "line",
  tone: "neutral",
  points: [
    { x: 60, y: 50 },
    { x: 60, y: 90 },
  ],
};
const picture = (...shapes: readonly Shape[]): Picture => ({
  title: "A title",
  description: "A description",
  width: 200,
  height: 100,
  shapes,
});

describe("renderPicture", () => {
  it("renders an image with title and description, without scripts and other files", () => {
    const drawn = renderPicture(picture(box, label, line));
    assert.match(drawn, /^<svg [^>]*viewBox="0 0 200 100" role="img"/);
    assert.match(drawn, /<title id="title">A title<\/title>\n<desc id="description">/);
    assert.ok(drawn.includes(">a &lt;b&gt; &amp; c</text>"));
    assert.doesNotMatch(drawn, /<script|<foreignObject|url\(|href=/);
  });

  it("has the colours of each class in both themes, and no other class", () => {
    const drawn = renderPicture(picture(box, label));
    assert.equal(drawn.match(/\.blue-soft\{fill:#/g)?.length, 2);
    assert.match(drawn, /@media \(prefers-color-scheme:dark\)\{\.paper\{fill:#0d1117\}/);
    assert.doesNotMatch(drawn, /violet/);
  });

  it("ends an arrow at the last point, and bends only curved lines", () => {
    assert.match(
      renderPicture(picture({ ...line, arrow: true })),
      /d="M60 50L60 82"[^>]*\/><polygon class="neutral-head" points="60,90 56,82 64,82"/,
    );
    const points = [
      { x: 0, y: 0 },
      { x: 20, y: 40 },
    ];
    assert.match(
      renderPicture(picture({ ...line, points, curved: true })),
      /d="M0 0C0 20 20 20 20 40"/,
    );
    assert.match(renderPicture(picture({ ...line, points })), /d="M0 0L20 40"/);
  });

  it("refuses a line with one point", () => {
    assert.throws(
      () => renderPicture(picture({ ...line, points: [{ x: 0, y: 0 }] })),
      /two points/,
    );
  });
});

describe("the checks of a layout", () => {
  it("accept a text in its box and a box in a box", () => {
    const inner = { ...box, x: 20, y: 20, width: 80, height: 20 };
    assert.deepEqual(findLayoutProblems(picture(box, inner, label, line)), []);
  });

  it("find boxes and texts that overlap", () => {
    assert.equal(findOverlappingBoxes(picture(box, { ...box, x: 60 })).length, 1);
    assert.equal(findOverlappingTexts(picture(label, { ...label, y: 38 })).length, 1);
  });

  it("find a text that leaves its box or the picture", () => {
    assert.equal(findTextsOutside(picture(box, { ...label, text: "x".repeat(20) })).length, 1);
    assert.equal(findTextsOutside(picture({ ...label, x: 190 })).length, 1);
  });

  it("find a text that a line crosses, unless a box hides the line", () => {
    const points = [
      { x: 0, y: 30 },
      { x: 200, y: 32 },
    ];
    const crossing = { ...line, points };
    assert.equal(findCrossedTexts(picture(label, crossing)).length, 1);
    assert.equal(findCrossedTexts(picture(box, crossing, label)).length, 1);
    assert.equal(findCrossedTexts(picture(crossing, box, label)).length, 0);
  });
});
