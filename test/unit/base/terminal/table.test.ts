import assert from "node:assert/strict";
import fc from "fast-check";
import {
  renderSampleChecksTable,
  renderNextCommands,
  renderNodesTable,
  convertPhaseTimes,
  renderPhaseTimesTable,
} from "../../../../automation/render/cluster-report.js";
import { formatTable } from "../../../../base/terminal/table.js";

describe("formatTable", () => {
  it("is as wide as its widest cells, without trailing spaces", () => {
    assert.equal(
      formatTable(
        ["A", "BBB"],
        [
          ["aaa", "b"],
          ["a", ""],
        ],
      ),
      "A    BBB\naaa  b\na",
    );
  });

  it("prints a line for every row", () => {
    const cell = fc.stringMatching(/^[a-z]{0,9}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell)), (rows) => {
        const lines = formatTable(["ONE", "TWO"], rows).split("\n");
        assert.equal(lines.length, rows.length + 1);
        for (const line of lines) assert.equal(line, line.trimEnd());
      }),
    );
  });
});

describe("report", () => {
  const verification = {
    ok: false,
    nodes: [
      {
        name: "dev-control-plane-0",
        role: "control plane",
        version: "v1.36.3",
        internalAddress: "10.0.0.5",
        externalAddress: "192.0.2.5",
        zone: "zone-a",
        providerId: "openstack:///1",
        ready: true,
        reason: "",
      },
      {
        name: "dev-general-0",
        role: "general",
        version: "v1.36.3",
        internalAddress: "10.0.0.6",
        externalAddress: "",
        zone: "",
        providerId: "openstack:///2",
        ready: false,
        reason: "network plugin is not ready",
      },
    ],
    services: [
      { name: "external service", where: "http://192.0.2.9/", ok: true, answer: "HTTP 200: web-1" },
      { name: "internal service", where: "http://10.0.0.9/", ok: false, answer: "HTTP 503: " },
    ],
    claims: [
      { name: "claim", where: "s/data", ok: true, answer: "read back: written by writer-0" },
    ],
  };

  it("shows nodes with the reason if they are not ready", () => {
    assert.equal(
      renderNodesTable(verification),
      [
        "NODE                 ROLE           VERSION  ADDRESS   EXTERNAL   ZONE    READY",
        "dev-control-plane-0  control plane  v1.36.3  10.0.0.5  192.0.2.5  zone-a  yes",
        "dev-general-0        general        v1.36.3  10.0.0.6  -          -       no: network plugin is not ready",
      ].join("\n"),
    );
  });

  it("shows the fetched content", () => {
    assert.equal(
      renderSampleChecksTable(verification),
      [
        "SAMPLE            WHERE              ANSWER",
        "external service  http://192.0.2.9/  HTTP 200: web-1",
        "internal service  http://10.0.0.9/   FAILED: HTTP 503:",
        "claim             s/data             read back: written by writer-0",
      ].join("\n"),
    );
  });

  it("shows the duration of each phase and the total", () => {
    const times = convertPhaseTimes([
      { phase: "servers", startedAt: 1_000, endedAt: 31_000, resources: 6, failed: false },
    ]);
    assert.equal(
      renderPhaseTimesTable([{ title: "Lab", milliseconds: 61_000 }, ...times], 95_000),
      [
        "PHASE    TOOK        RESOURCES",
        "Lab      1 min 01 s",
        "Servers  30 s        6",
        "In all   1 min 35 s",
      ].join("\n"),
    );
  });

  it("ends with the three next commands", () => {
    const lines = renderNextCommands("dev", "/state/kubeconfig-dev", { onLab: true }).split("\n");
    assert.equal(lines.length, 4);
    assert.match(lines[1] ?? "", /^KUBECONFIG=\/state\/kubeconfig-dev kubectl/);
    assert.match(lines[2] ?? "", /^stackadm destroy /);
    assert.match(lines[3] ?? "", /^npx stackadm-lab down/);
    const other = renderNextCommands("prod", "/k", { onLab: false });
    assert.match(other, /destroy --stack prod/);
    assert.match(other, /status --stack prod/);
  });
});
