import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { begunAt, begunPath, noteBegin } from "../../../../automation/pulumi/last-up.js";

describe("what is noted of the last `up` of ours", () => {
  let place: { directory: string };
  beforeEach(() => {
    place = { directory: mkdtempSync(join(tmpdir(), "begun-")) };
  });
  afterEach(() => {
    rmSync(place.directory, { recursive: true });
  });

  it("is when it began, and when it ended if anybody saw that", () => {
    assert.equal(begunAt(place), undefined);
    const noted = noteBegin(place, 1_000);
    assert.deepEqual(begunAt(place), { from: 1_000 });
    noted.end();
    const { from, to = 0 } = begunAt(place) ?? {};
    assert.equal(from, 1_000);
    assert.ok(to > Date.now() - 10_000);
  });

  it("is what it was before, where that one did nothing", () => {
    const first = noteBegin(place, 1_000);
    first.undo();
    assert.equal(begunAt(place), undefined);
    noteBegin(place, 2_000).end();
    const before = begunAt(place);
    noteBegin(place, 3_000).undo();
    assert.deepEqual(begunAt(place), before);
  });

  it("is when it began alone, as earlier releases noted it; nothing where nobody can read that", () => {
    writeFileSync(begunPath(place), "1767348000000");
    assert.deepEqual(begunAt(place), { from: 1_767_348_000_000 });
    for (const text of ["", "soon", "-1 5"]) {
      writeFileSync(begunPath(place), text);
      assert.equal(begunAt(place), undefined);
    }
  });

  it("keeps nobody from working who cannot note it", () => {
    const nowhere = { directory: join(begunPath(place), "no directory") };
    writeFileSync(begunPath(place), "1");
    const noted = noteBegin(nowhere);
    noted.end();
    noted.undo();
    assert.equal(begunAt(nowhere), undefined);
  });
});
