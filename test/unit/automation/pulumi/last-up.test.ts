import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLastUp, getLastUpPath, recordUpBegin } from "../../../../automation/pulumi/last-up.js";

describe("what is noted of the last `up` of ours", () => {
  let place: { directory: string };
  beforeEach(() => {
    place = { directory: mkdtempSync(join(tmpdir(), "begun-")) };
  });
  afterEach(() => {
    rmSync(place.directory, { recursive: true });
  });

  it("is when it began, and when it ended if anybody saw that", () => {
    assert.equal(readLastUp(place), undefined);
    const noted = recordUpBegin(place, 1_000);
    assert.deepEqual(readLastUp(place), { from: 1_000 });
    noted.end();
    const { from, to = 0 } = readLastUp(place) ?? {};
    assert.equal(from, 1_000);
    assert.ok(to > Date.now() - 10_000);
  });

  it("is what it was before, where that one did nothing", () => {
    const first = recordUpBegin(place, 1_000);
    first.undo();
    assert.equal(readLastUp(place), undefined);
    recordUpBegin(place, 2_000).end();
    const before = readLastUp(place);
    recordUpBegin(place, 3_000).undo();
    assert.deepEqual(readLastUp(place), before);
  });

  it("is when it began alone, as earlier releases noted it; nothing where nobody can read that", () => {
    writeFileSync(getLastUpPath(place), "1767348000000");
    assert.deepEqual(readLastUp(place), { from: 1_767_348_000_000 });
    for (const text of ["", "soon", "-1 5"]) {
      writeFileSync(getLastUpPath(place), text);
      assert.equal(readLastUp(place), undefined);
    }
  });

  it("keeps nobody from working who cannot note it", () => {
    const nowhere = { directory: join(getLastUpPath(place), "no directory") };
    writeFileSync(getLastUpPath(place), "1");
    const noted = recordUpBegin(nowhere);
    noted.end();
    noted.undo();
    assert.equal(readLastUp(nowhere), undefined);
  });
});
