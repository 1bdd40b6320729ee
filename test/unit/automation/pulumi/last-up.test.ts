import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLastUp, getLastUpPath, recordUpBegin } from "../../../../automation/pulumi/last-up.js";

describe("last `up` record", () => {
  let place: { directory: string };
  beforeEach(() => {
    place = { directory: mkdtempSync(join(tmpdir(), "begun-")) };
  });
  afterEach(() => {
    rmSync(place.directory, { recursive: true });
  });

  it("has the start, and the end if the run recorded one", () => {
    assert.equal(readLastUp(place), undefined);
    const noted = recordUpBegin(place, 1_000);
    assert.deepEqual(readLastUp(place), { from: 1_000 });
    noted.end();
    const { from, to = 0 } = readLastUp(place) ?? {};
    assert.equal(from, 1_000);
    assert.ok(to > Date.now() - 10_000);
  });

  it("is restored if the run changed nothing", () => {
    const first = recordUpBegin(place, 1_000);
    first.undo();
    assert.equal(readLastUp(place), undefined);
    recordUpBegin(place, 2_000).end();
    const before = readLastUp(place);
    recordUpBegin(place, 3_000).undo();
    assert.deepEqual(readLastUp(place), before);
  });

  it("accepts the format of earlier releases with the start only, and ignores unreadable files", () => {
    writeFileSync(getLastUpPath(place), "1767348000000");
    assert.deepEqual(readLastUp(place), { from: 1_767_348_000_000 });
    for (const text of ["", "soon", "-1 5"]) {
      writeFileSync(getLastUpPath(place), text);
      assert.equal(readLastUp(place), undefined);
    }
  });

  it("does not fail if the record cannot be written", () => {
    const nowhere = { directory: join(getLastUpPath(place), "no directory") };
    writeFileSync(getLastUpPath(place), "1");
    const noted = recordUpBegin(nowhere);
    noted.end();
    noted.undo();
    assert.equal(readLastUp(nowhere), undefined);
  });
});
