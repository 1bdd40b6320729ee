import assert from "node:assert/strict";
import {
  expectedWorkers,
  knownBackends,
  lateWorkers,
  neutronWorkers,
  novaWorkers,
  utc,
  type Worker,
} from "../../../cloud/readiness.js";
import { labSettings } from "../../../settings.js";

describe("lab/cloud/readiness", () => {
  it("reads the times of all three services as UTC", () => {
    const expected = Date.UTC(2026, 0, 2, 3, 4, 5);
    assert.equal(utc("2026-01-02T03:04:05.000000"), expected);
    assert.equal(utc("2026-01-02 03:04:05"), expected);
    assert.equal(utc("2026-01-02T03:04:05Z"), expected);
    assert.equal(utc(null), 0);
    assert.equal(utc(undefined), 0);
  });

  it("reads Nova's and Cinder's services", () => {
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
    assert.deepEqual(novaWorkers(body), [
      { name: "nova-compute labcloud-a", up: true, reported: Date.UTC(2026, 0, 2, 3, 4, 5) },
      { name: "cinder-volume labcloud@zone-a", up: false, reported: 0 },
    ]);
  });

  it("knows a backend when Cinder's scheduler has heard of it", () => {
    const known = knownBackends({ pools: [{ name: "labcloud@zone-a#lab" }] }, 7);
    assert.deepEqual(known, [{ name: "backend labcloud@zone-a", up: true, reported: 7 }]);
    const late = lateWorkers(expectedWorkers(labSettings({})), known, 0);
    assert.ok(!late.includes("backend labcloud@zone-a"));
    assert.ok(late.includes("backend labcloud@zone-b"));
  });

  it("reads Neutron's agents", () => {
    const agent = {
      binary: "neutron-l3-agent",
      host: "labcloud",
      alive: true,
      heartbeat_timestamp: "2026-01-02 03:04:05",
    };
    assert.deepEqual(neutronWorkers({ agents: [agent] }), [
      { name: "neutron-l3-agent labcloud", up: true, reported: Date.UTC(2026, 0, 2, 3, 4, 5) },
    ]);
  });

  it("expects every compute host, every volume backend and all four agents", () => {
    const expected = expectedWorkers(labSettings({}));
    assert.equal(expected.length, 16);
    assert.ok(expected.includes("nova-compute labcloud-c"));
    assert.ok(expected.includes("cinder-volume labcloud@zone-b"));
    assert.equal(expected.filter((name) => name.startsWith("neutron-")).length, 4);
  });

  const workers: Worker[] = [
    { name: "fresh", up: true, reported: 2000 },
    { name: "remembered from the first boot", up: true, reported: 500 },
    { name: "down", up: false, reported: 2000 },
  ];

  it("calls late what is unknown, down or has not reported since the start", () => {
    const expected = [...workers.map(({ name }) => name), "unknown"];
    assert.deepEqual(lateWorkers(expected, workers, 1000), [
      "remembered from the first boot",
      "down",
      "unknown",
    ]);
  });

  it("counts a report of the very second of the start", () => {
    assert.deepEqual(lateWorkers(["fresh"], workers, 2000), []);
  });
});
