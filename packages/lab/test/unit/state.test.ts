import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getLabPaths, readLabSettings, type LabPaths } from "../../settings.js";
import { readState, getRunningSettings, writeState, type RunningLabRecord } from "../../state.js";
import { parseInactiveUnits, describeLockHolder } from "../../status.js";

describe("lab state", () => {
  let folder = "";
  let paths: LabPaths;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lab-state-"));
    paths = { ...getLabPaths(), state: folder, stateFile: join(folder, "lab.json") };
  });
  afterEach(() => rm(folder, { recursive: true }));

  const moved = readLabSettings({
    STACKADM_LAB_MANAGEMENT: "10.213.0.0/24",
    STACKADM_LAB_EXTERNAL: "10.213.1.0/24",
    STACKADM_LAB_SERVICES: "10.213.2.0/24",
  });
  const state: RunningLabRecord = {
    key: "0123456789ab",
    startedAt: "2026-01-02T03:04:05.000Z",
    settings: { ...moved, zones: [...moved.zones] },
  };

  it("is read as written", async () => {
    writeState(paths, state);
    assert.deepEqual(await readState(paths), state);
  });

  it("is undefined without a file", async () => {
    assert.equal(await readState(paths), undefined);
  });

  for (const text of ["", "{", "[]", '{"key":"x"}']) {
    it(`is undefined for the file ${JSON.stringify(text)}`, async () => {
      await writeFile(paths.stateFile, text);
      assert.equal(await readState(paths), undefined);
    });
  }

  it("contains the networks of the running lab, so that they can be removed", () => {
    assert.equal(getRunningSettings(state).management.cloud, "10.213.0.2");
    assert.equal(getRunningSettings(undefined).name, "stackadm-lab");
  });
});

describe("parseInactiveUnits", () => {
  it("returns units that are not active, with their state", () => {
    assert.deepEqual(parseInactiveUnits(["a", "b", "c"], "active\nfailed\nactive\n"), [
      "b is failed",
    ]);
  });

  it("reports units as unknown if the output is too short", () => {
    assert.deepEqual(parseInactiveUnits(["a", "b"], "active\n"), ["b is unknown"]);
  });
});

describe("describeLockHolder", () => {
  const lock = '{"pid":4711,"started":"1","purpose":"lab up"}';

  it("returns the process that starts or destroys the lab", () => {
    assert.equal(
      describeLockHolder(lock, (pid) => pid === 4711),
      "process 4711 is at work: lab up",
    );
  });

  it("ignores a dead process", () => {
    assert.equal(
      describeLockHolder(lock, () => false),
      undefined,
    );
  });

  for (const text of ["", "{", '{"pid":"x"}']) {
    it(`ignores the lock ${JSON.stringify(text)}`, () => {
      assert.equal(
        describeLockHolder(text, () => true),
        undefined,
      );
    });
  }
});
