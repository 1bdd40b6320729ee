import assert from "node:assert/strict";
import {
  listExpectedWorkers,
  parseCinderBackends,
  findLateWorkers,
  parseNeutronWorkers,
  parseNovaWorkers,
  parseUtcTime,
  type WorkerReport,
} from "../../../cloud/readiness.js";
import { readLabSettings } from "../../../settings.js";

describe("worker reports", () => {
  it("have their times of all three services parsed as UTC", () => {
    const expected = Date.UTC(2026, 0, 2, 3, 4, 5);
    assert.equal(parseUtcTime("2026-01-02T03:04:05.000000"), expected);
    assert.equal(parseUtcTime("2026-01-02 03:04:05"), expected);
    assert.equal(parseUtcTime("2026-01-02T03:04:05Z"), expected);
    assert.equal(parseUtcTime(null), 0);
    assert.equal(parseUtcTime(undefined), 0);
  });

  it("are parsed from Nova and Cinder", () => {
    const body = {
      services: [
        {
          binary: "nova-compute",
          host: "labcloud-a",
          state: "up",
          updated_at: "2026-01-02 03:04:05",
        },
        { binary: "cinder-volume", host: "labcloud@zone-a", state: "down", updated_at: null },
      ],
    };
    assert.deepEqual(parseNovaWorkers(body), [
      { name: "nova-compute labcloud-a", up: true, reported: Date.UTC(2026, 0, 2, 3, 4, 5) },
      { name: "cinder-volume labcloud@zone-a", up: false, reported: 0 },
    ]);
  });

  it("include a backend once Cinder's scheduler knows the backend", () => {
    const known = parseCinderBackends({ pools: [{ name: "labcloud@zone-a#lab" }] }, 7);
    assert.deepEqual(known, [{ name: "backend labcloud@zone-a", up: true, reported: 7 }]);
    const late = findLateWorkers(listExpectedWorkers(readLabSettings({})), known, 0);
    assert.ok(!late.includes("backend labcloud@zone-a"));
    assert.ok(late.includes("backend labcloud@zone-b"));
  });

  it("are parsed from Neutron's agents", () => {
    const agent = {
      binary: "neutron-l3-agent",
      host: "labcloud",
      alive: true,
      heartbeat_timestamp: "2026-01-02 03:04:05",
    };
    assert.deepEqual(parseNeutronWorkers({ agents: [agent] }), [
      { name: "neutron-l3-agent labcloud", up: true, reported: Date.UTC(2026, 0, 2, 3, 4, 5) },
    ]);
  });

  it("are expected of every compute host, every volume backend and all four agents", () => {
    const expected = listExpectedWorkers(readLabSettings({}));
    assert.equal(expected.length, 16);
    assert.ok(expected.includes("nova-compute labcloud-c"));
    assert.ok(expected.includes("cinder-volume labcloud@zone-b"));
    assert.equal(expected.filter((name) => name.startsWith("neutron-")).length, 4);
  });

  const workers: WorkerReport[] = [
    { name: "fresh", up: true, reported: 2000 },
    { name: "remembered from the first boot", up: true, reported: 500 },
    { name: "down", up: false, reported: 2000 },
  ];

  it("are late if the worker is unknown, down or has not reported since the start", () => {
    const expected = [...workers.map(({ name }) => name), "unknown"];
    assert.deepEqual(findLateWorkers(expected, workers, 1000), [
      "remembered from the first boot",
      "down",
      "unknown",
    ]);
  });

  it("count in the same second as the start", () => {
    assert.deepEqual(findLateWorkers(["fresh"], workers, 2000), []);
  });
});
