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
      "that begins a step",
      { timestamp: 5, resourcePreEvent: step("create") },
      { type: "started", at: 5, change: change("create") } as DecodedEngineEvent,
    ],
    [
      "that ends a step, with the new id",
      { timestamp: 6, resOutputsEvent: step("create", { new: { custom: true, id: "n1" } }) },
      { type: "finished", at: 6, change: change("create"), id: "n1" } as DecodedEngineEvent,
    ],
    [
      "that ends a deletion, with the old id",
      { timestamp: 6, resOutputsEvent: step("delete", { old: { custom: true, id: "n0" } }) },
      { type: "finished", at: 6, change: change("delete"), id: "n0" } as DecodedEngineEvent,
    ],
    [
      "that fails a step",
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
      "about a resource that stays as it is",
      { timestamp: 8, resourcePreEvent: step("same") },
      { type: "unchanged", at: 8, change: change("same") } as DecodedEngineEvent,
    ],
    ["that ends nothing", { resOutputsEvent: step("same") }, undefined],
    [
      "about the engine's own provider",
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
      "about a component",
      { resourcePreEvent: step("create", { new: { custom: false } }) },
      undefined,
    ],
    [
      "about the outputs of the program, which are as they were",
      {
        timestamp: 8,
        resOutputsEvent: stack({ a: "1", k: "[secret]" }, { k: "[secret]", a: "1" }),
      },
      { type: "outputs", at: 8, same: true },
    ],
    [
      "about the outputs of the program, of which one is new",
      { timestamp: 8, resOutputsEvent: stack({ a: "1" }, { a: "1", b: "" }) },
      { type: "outputs", at: 8, same: false },
    ],
    [
      "about the outputs of a program that had none before",
      { timestamp: 8, resOutputsEvent: stack(undefined, { a: "1" }) },
      { type: "outputs", at: 8, same: false },
    ],
    ["without metadata of a state", { resourcePreEvent: step("create", {}) }, undefined],
    [
      "with a line of a running command",
      {
        timestamp: 9,
        diagnosticEvent: { urn, message: "kubeadm init\n", severity: "info", ephemeral: true },
      },
      { type: "log", at: 9, urn, text: "kubeadm init" },
    ],
    [
      "with a sign of life",
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
      "with a sign of life of a machine behind another one",
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
      "with something like a sign of life, but not of a server",
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
      "with a note of a script, which stays on the screen",
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
      "with the error of a script, without its signs of life",
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
      "with an error, without its colours",
      {
        timestamp: 9,
        diagnosticEvent: { urn, message: "<{%fg 1%}>broken<{%reset%}>\n", severity: "error" },
      },
      { type: "message", at: 9, urn, severity: "error", text: "broken" },
    ],
    [
      "with an error that the program knew, without the mark",
      {
        timestamp: 9,
        diagnosticEvent: { message: "<{%reset%}>[NOT_READY] late\nx", severity: "error" },
      },
      { type: "message", at: 9, urn: "", severity: "error", code: "NOT_READY", text: "late\nx" },
    ],
    [
      "with a line of a machine that looks like one of the program",
      {
        timestamp: 9,
        diagnosticEvent: { urn, message: "[FAILED] x", severity: "info", ephemeral: true },
      },
      { type: "log", at: 9, urn, text: "[FAILED] x" },
    ],
    [
      "with an information that goes to standard error",
      { timestamp: 9, diagnosticEvent: { message: "hello", severity: "info#err" } },
      { type: "message", at: 9, urn: "", severity: "info", text: "hello" },
    ],
    [
      "with an empty message",
      { diagnosticEvent: { message: " \n", severity: "error" } },
      undefined,
    ],
    ["for debugging", { diagnosticEvent: { message: "x", severity: "debug" } }, undefined],
    [
      "that sums up",
      {
        timestamp: 10,
        summaryEvent: { durationSeconds: 87, resourceChanges: { create: 3, same: 1 } },
      },
      { type: "summary", at: 10, seconds: 87, changes: { create: 3, same: 1 } },
    ],
    [
      "that sums up nothing",
      { timestamp: 10, summaryEvent: { durationSeconds: 1, resourceChanges: null } },
      { type: "summary", at: 10, seconds: 1, changes: {} },
    ],
    ["of another kind", { timestamp: 1, preludeEvent: { config: {} } }, undefined],
    ["that ends the stream", { timestamp: 1, cancelEvent: {} }, undefined],
    ["that is none", "hello", undefined],
    ["that is broken", { resourcePreEvent: { metadata: {} } }, undefined],
  ];
  for (const [what, raw, expected] of table)
    it(what, () => {
      assert.deepEqual(decodeEvent(raw), expected);
    });
});

describe("stripTerminalEscapes", () => {
  it("removes escape sequences and the engine's markup", () => {
    assert.equal(stripTerminalEscapes("\u001B[31mred\u001B[0m <{%reset%}>plain"), "red plain");
  });
});
