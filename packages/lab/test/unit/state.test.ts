import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getLabPaths, readLabSettings, type LabPaths } from "../../settings.js";
import { readState, getRunningSettings, writeState, type RunningLabRecord } from "../../state.js";
import { parseInactiveUnits, describeLockHolder } from "../../status.js";

describe("lab/state", () => {
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

  it("reads back what was written", async () => {
    writeState(paths, state);
    assert.deepEqual(await readState(paths), state);
  });

  it("knows nothing when there is no file", async () => {
    assert.equal(await readState(paths), undefined);
  });

  for (const text of ["", "{", "[]", '{"key":"x"}']) {
    it(`takes the file ${JSON.stringify(text)} for no lab`, async () => {
      await writeFile(paths.stateFile, text);
      assert.equal(await readState(paths), undefined);
    });
  }

  it("takes a lab away with the networks it was started with", () => {
    assert.equal(getRunningSettings(state).management.cloud, "10.213.0.2");
    assert.equal(getRunningSettings(undefined).name, "stackadm-lab");
  });
});

describe("lab/status: units", () => {
  it("names those that do not run, with their state", () => {
    assert.deepEqual(parseInactiveUnits(["a", "b", "c"], "active\nfailed\nactive\n"), [
      "b is failed",
    ]);
  });

  it("does not take a short answer for a good one", () => {
    assert.deepEqual(parseInactiveUnits(["a", "b"], "active\n"), ["b is unknown"]);
  });
});

describe("lab/status: work of others", () => {
  const lock = '{"pid":4711,"started":"1","purpose":"lab up"}';

  it("names the process that starts or destroys the lab", () => {
    assert.equal(
      describeLockHolder(lock, (pid) => pid === 4711),
      "process 4711 is at work: lab up",
    );
  });

  it("forgets a process that is dead", () => {
    assert.equal(
      describeLockHolder(lock, () => false),
      undefined,
    );
  });

  for (const text of ["", "{", '{"pid":"x"}']) {
    it(`takes the lock ${JSON.stringify(text)} for none`, () => {
      assert.equal(
        describeLockHolder(text, () => true),
        undefined,
      );
    });
  }
});
