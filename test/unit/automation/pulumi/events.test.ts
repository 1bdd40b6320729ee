import assert from "node:assert/strict";
import {
  decodeEvent,
  stripTerminalEscapes,
  type DecodedEngineEvent,
} from "../../../../automation/pulumi/events.js";

const urn =
  "urn:pulumi:dev::stackadm::stackadm:index:Cluster$openstack:networking/network:Network::dev-network";
const serverId = "0b1c2d3e-0000-4000-8000-000000000001";
const step = (op: string, more: Readonly<Record<string, unknown>> = { new: { custom: true } }) => ({
  metadata: { op, urn, type: "openstack:networking/network:Network", ...more },
});
const stack = (before: object | undefined, now: object) => ({
  metadata: {
    op: "same",
    urn: "urn:pulumi:dev::stackadm::pulumi:pulumi:Stack::stackadm-dev",
    type: "pulumi:pulumi:Stack",
    old: before && { custom: false, outputs: before },
    new: { custom: false, outputs: now },
  },
});
const change = (operation: string) => ({
  urn,
  name: "dev-network",
  type: "Network",
  phase: "network",
  operation,
});

describe("decodeEvent", () => {
  const table: [string, unknown, DecodedEngineEvent | undefined][] = [
    [
      "decodes the begin of a step",
      { timestamp: 5, resourcePreEvent: step("create") },
      { type: "started", at: 5, change: change("create") } as DecodedEngineEvent,
    ],
    [
      "decodes the end of a step, with the new ID",
      { timestamp: 6, resOutputsEvent: step("create", { new: { custom: true, id: "n1" } }) },
      { type: "finished", at: 6, change: change("create"), id: "n1" } as DecodedEngineEvent,
    ],
    [
      "decodes the end of a deletion, with the old ID",
      { timestamp: 6, resOutputsEvent: step("delete", { old: { custom: true, id: "n0" } }) },
      { type: "finished", at: 6, change: change("delete"), id: "n0" } as DecodedEngineEvent,
    ],
    [
      "decodes a failed step",
      {
        timestamp: 7,
        resOpFailedEvent: step("create", { new: { custom: true, inputs: { name: "dev" } } }),
      },
      {
        type: "failed",
        at: 7,
        change: change("create"),
        inputs: { name: "dev" },
      } as DecodedEngineEvent,
    ],
    [
      "decodes an unchanged resource",
      { timestamp: 8, resourcePreEvent: step("same") },
      { type: "unchanged", at: 8, change: change("same") } as DecodedEngineEvent,
    ],
    ["ignores the end of an unchanged resource", { resOutputsEvent: step("same") }, undefined],
    [
      "ignores the engine's own provider",
      {
        timestamp: 8,
        resourcePreEvent: {
          metadata: {
            op: "delete",
            type: "pulumi:providers:pulumi",
            old: { custom: true },
            urn: "urn:pulumi:dev::stackadm::pulumi:providers:pulumi::default",
          },
        },
      },
      undefined,
    ],
    [
      "ignores a component",
      { resourcePreEvent: step("create", { new: { custom: false } }) },
      undefined,
    ],
    [
      "decodes unchanged outputs of the program",
      {
        timestamp: 8,
        resOutputsEvent: stack({ a: "1", k: "[secret]" }, { k: "[secret]", a: "1" }),
      },
      { type: "outputs", at: 8, same: true },
    ],
    [
      "decodes outputs of the program with a new one",
      { timestamp: 8, resOutputsEvent: stack({ a: "1" }, { a: "1", b: "" }) },
      { type: "outputs", at: 8, same: false },
    ],
    [
      "decodes the first outputs of a program",
      { timestamp: 8, resOutputsEvent: stack(undefined, { a: "1" }) },
      { type: "outputs", at: 8, same: false },
    ],
    [
      "ignores a step without the metadata of a state",
      { resourcePreEvent: step("create", {}) },
      undefined,
    ],
    [
      "decodes an output line of a running command",
      {
        timestamp: 9,
        diagnosticEvent: { urn, message: "kubeadm init\n", severity: "info", ephemeral: true },
      },
      { type: "log", at: 9, urn, text: "kubeadm init" },
    ],
    [
      "decodes a script's alive message",
      {
        timestamp: 9,
        diagnosticEvent: {
          urn,
          message: `<{%reset%}>alive ${serverId} init 20 s\n`,
          severity: "info",
          ephemeral: true,
        },
      },
      { type: "alive", at: 9, urn, serverId, through: [], step: "init", seconds: 20 },
    ],
    [
      "decodes the alive message of a machine behind a jump host",
      {
        timestamp: 9,
        diagnosticEvent: {
          urn,
          message: `alive ${serverId},dev-control-plane-0 join 5 s`,
          severity: "info",
          ephemeral: true,
        },
      },
      {
        type: "alive",
        at: 9,
        urn,
        serverId,
        through: ["dev-control-plane-0"],
        step: "join",
        seconds: 5,
      },
    ],
    [
      "decodes an alive message without a server ID as output",
      {
        timestamp: 9,
        diagnosticEvent: {
          urn,
          message: "alive ../os-keypairs init 20 s",
          severity: "info",
          ephemeral: true,
        },
      },
      { type: "log", at: 9, urn, text: "alive ../os-keypairs init 20 s" },
    ],
    [
      "decodes a script's note as a warning",
      {
        timestamp: 9,
        diagnosticEvent: {
          urn,
          message: "note: the disk is slow\n",
          severity: "info",
          ephemeral: true,
        },
      },
      { type: "message", at: 9, urn, severity: "warning", text: "the disk is slow" },
    ],
    [
      "removes alive messages from a script's error",
      {
        timestamp: 9,
        diagnosticEvent: {
          urn,
          message: `status 1:\nalive ${serverId} init 0 s\nkubeadm init\nalive ${serverId} init 5 s\n`,
          severity: "error",
        },
      },
      { type: "message", at: 9, urn, severity: "error", text: "status 1:\nkubeadm init" },
    ],
    [
      "removes colours from an error",
      {
        timestamp: 9,
        diagnosticEvent: { urn, message: "<{%fg 1%}>broken<{%reset%}>\n", severity: "error" },
      },
      { type: "message", at: 9, urn, severity: "error", text: "broken" },
    ],
    [
      "splits the failure code from an error of the program",
      {
        timestamp: 9,
        diagnosticEvent: { message: "<{%reset%}>[NOT_READY] late\nx", severity: "error" },
      },
      { type: "message", at: 9, urn: "", severity: "error", code: "NOT_READY", text: "late\nx" },
    ],
    [
      "keeps a code-like prefix in a machine's output line",
      {
        timestamp: 9,
        diagnosticEvent: { urn, message: "[FAILED] x", severity: "info", ephemeral: true },
      },
      { type: "log", at: 9, urn, text: "[FAILED] x" },
    ],
    [
      "decodes an info message on standard error",
      { timestamp: 9, diagnosticEvent: { message: "hello", severity: "info#err" } },
      { type: "message", at: 9, urn: "", severity: "info", text: "hello" },
    ],
    [
      "ignores an empty message",
      { diagnosticEvent: { message: " \n", severity: "error" } },
      undefined,
    ],
    [
      "ignores a debug message",
      { diagnosticEvent: { message: "x", severity: "debug" } },
      undefined,
    ],
    [
      "decodes the summary",
      {
        timestamp: 10,
        summaryEvent: { durationSeconds: 87, resourceChanges: { create: 3, same: 1 } },
      },
      { type: "summary", at: 10, seconds: 87, changes: { create: 3, same: 1 } },
    ],
    [
      "decodes a summary without changes",
      { timestamp: 10, summaryEvent: { durationSeconds: 1, resourceChanges: null } },
      { type: "summary", at: 10, seconds: 1, changes: {} },
    ],
    ["ignores an event of another kind", { timestamp: 1, preludeEvent: { config: {} } }, undefined],
    ["ignores the end of the stream", { timestamp: 1, cancelEvent: {} }, undefined],
    ["ignores text that is not an event", "hello", undefined],
    ["ignores a broken event", { resourcePreEvent: { metadata: {} } }, undefined],
  ];
  for (const [what, raw, expected] of table)
    it(what, () => {
      assert.deepEqual(decodeEvent(raw), expected);
    });
});

describe("decodeEvent of a script's start", () => {
  const started = (type: string, planned: object, op = "create"): unknown => {
    const metadata = { op, urn: `urn:pulumi:dev::stackadm::${type}::dev-general-0-join` };
    const resource = { custom: true, inputs: planned };
    const resources = op === "delete" ? { old: resource } : { new: resource };
    const event = decodeEvent({ resourcePreEvent: { metadata: { ...metadata, ...resources } } });
    assert.equal(event?.type, "started");
    return event.serverId;
  };
  const command = `sudo -n bash \\\n  join@0 up \\\n  SERVER_ID=${serverId}`;

  it("contains the ID of the server", () => {
    const remotePath = `.stackadm/${serverId}/0123456789abcdef.sh`;
    assert.equal(started("command:remote:Command", { create: command }), serverId);
    assert.equal(started("command:remote:Command", { delete: command }, "delete"), serverId);
    assert.equal(started("command:remote:CopyToRemote", { remotePath }), serverId);
  });

  it("contains no ID for a command of the user and for other resources", () => {
    assert.equal(started("command:remote:Command", { create: "sleep 600" }), undefined);
    assert.equal(started("command:remote:CopyToRemote", { remotePath: "etc/app/file" }), undefined);
    assert.equal(started("command:local:Command", { create: command }), undefined);
  });
});

describe("stripTerminalEscapes", () => {
  it("removes escape sequences and the engine's markup", () => {
    assert.equal(stripTerminalEscapes("\u001B[31mred\u001B[0m <{%reset%}>plain"), "red plain");
  });
});
