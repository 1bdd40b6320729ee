import assert from "node:assert/strict";
import { countCalls, getCallKind } from "../../support/calls.js";
import { drawPhases } from "../../support/drawing.js";
import { getMoments, type ResourceWork } from "../../support/moments.js";
import {
  getLatestRecords,
  readRecords,
  renderComparison,
  renderFiguresTable,
  renderRecord,
  type BenchRecord,
} from "../../support/records.js";
import { getMedian, renderFigureRows } from "../../support/statistics.js";

const id = "0b5bd2a1-34a5-4bb1-9d64-3c6a1ec5a3c2";
const call = (method: string, url: string, port = 9696, own = true) => ({
  method,
  url,
  upstream: `http://172.29.0.2:${port}`,
  own,
});

describe("benchmark figures", () => {
  it("identify requests by kind, independent of IDs", () => {
    assert.equal(getCallKind(call("GET", `/v2.0/ports/${id}?a=b`)), "GET network /ports/*");
    const project = id.replaceAll("-", "");
    assert.equal(getCallKind(call("GET", `/v3/${project}/limits`, 8776)), "GET volume /*/limits");
  });

  it("count requests, writes and requests of the cluster's controllers", () => {
    const counted = countCalls([
      ...[call("POST", "/v3/auth/tokens", 5000), call("GET", "/v2.0/ports")],
      ...[call("GET", `/v2.0/ports/${id}`), call("GET", `/v2.0/ports/${id}`)],
      ...[call("POST", "/v2.0/ports"), call("GET", "/v2.0/ports", 9696, false)],
    ]);
    assert.deepEqual(Object.entries(counted).slice(0, 4), [
      ["calls to the cloud", 5],
      ["writes among them", 1],
      ["calls by the cluster's controllers", 1],
      ["GET network /ports/*", 2],
    ]);
  });

  it("name the moments of a run by the work at the time", () => {
    const work = (
      type: string,
      name: string,
      startedAt: number,
      endedAt: number,
    ): ResourceWork => ({
      type,
      name,
      startedAt,
      endedAt,
    });
    const all = [
      work("openstack:networking/network:Network", "n", 2_000, 3_000),
      ...[work("Instance", "a", 4_000, 9_000), work("Instance", "b", 4_100, 8_000)],
      ...[work("Command", "a-prepare", 9_000, 12_000), work("Command", "a-init", 12_000, 20_040)],
    ];
    assert.deepEqual(getMoments(all, 1_000), {
      "first write": 1,
      "servers asked for": 3.1,
      "servers made": 8,
      "machines prepared": 11,
      "kubeadm init done": 19,
    });
  });

  it("contain minimum, median and the ratio to the first column", () => {
    assert.equal(getMedian([3, 1, 2]), 2);
    assert.equal(getMedian([4, 1, 2, 3]), 2.5);
    const rows = renderFigureRows([[{ up: 10 }, { up: 12 }], [{ up: 25, more: 1 }]]);
    assert.deepEqual(rows, [
      ["up", "10 / 11", "25 / 25", "2.50"],
      ["more", "-", "1 / 1", "-"],
    ]);
  });

  it("are compared with a record for the columns in the record", () => {
    const measured = (up: number) => ({
      bench: "oracle",
      options: {},
      versions: {},
      columns: [{ name: "stackadm", runs: [{ up, other: 0 }] }],
    });
    const record: BenchRecord = {
      ...measured(100),
      at: "2026-01-02T03:04:05Z",
      commit: "abc",
      processors: 2,
      gibibytes: 8,
    };
    const [, line = ""] = renderComparison(measured(80), record).split("\n");
    assert.match(line, /^stackadm: up +100 +80 +0\.80$/);
    assert.match(renderFiguresTable(record), /^oracle: LEAST \/ MEDIAN +stackadm\nup +100 \/ 100/);
  });
});

describe("records", () => {
  const record: BenchRecord = {
    bench: "scale up",
    options: { controlPlanes: 3 },
    versions: { "pulumi-resource-openstack": "5.5.1" },
    columns: [{ name: "50", runs: [{ wall: 9 }] }],
    at: "2026-01-02T03:04:05Z",
    commit: "abc",
    processors: 2,
    gibibytes: 8,
    note: "A slow day.",
  };

  it("are printed with date, commit, machine, options, versions and note", () => {
    assert.deepEqual(renderRecord(record).split("\n").slice(0, 3), [
      "2026-01-02, abc, 2 processors, 8 GiB, controlPlanes 3",
      "pulumi-resource-openstack 5.5.1",
      "A slow day.",
    ]);
  });

  it("are latest if no later record has the same benchmark and options", () => {
    const later = { ...record, commit: "def" };
    const other = { ...record, options: { controlPlanes: 1 } };
    assert.deepEqual(getLatestRecords([record, other, later]), [later, other]);
  });

  it("name the measured version of the OpenStack plugin", () => {
    const without = readRecords().filter(
      ({ versions }) => !/^\d+\.\d+\.\d+$/.test(versions["pulumi-resource-openstack"] ?? ""),
    );
    assert.ok(readRecords().length > 0);
    assert.deepEqual(without, []);
  });
});

describe("drawPhases", () => {
  it("draws a bar for each moment and column, proportional to the duration", () => {
    const columns = [
      { name: "bare calls", runs: [{ "nodes Ready": 10, up: 20 }] },
      { name: "a & b", runs: [{ "nodes Ready": 20, up: 40 }] },
    ];
    const drawn = drawPhases({ columns });
    const bars = [...drawn.matchAll(/<rect x="\d+" y="[\d.]+" width="(\d+)"/g)].map(([, long]) =>
      Number(long),
    );
    assert.equal(bars.length, 4);
    assert.deepEqual([bars[1], bars[3]], [bars[2], 2 * (bars[2] ?? 0)]);
    assert.match(drawn, /a &amp; b, s/);
  });
});
