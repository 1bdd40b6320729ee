import assert from "node:assert/strict";
import type { OperationEventBody } from "../../../../automation/engine/operation-events.js";
import { Redactor, redactProgress } from "../../../../base/terminal/redact-secrets.js";
import { RunView, type RunViewOptions } from "../../../../automation/render/run-progress.js";
import type { Progress } from "../../../../base/progress.js";

const network =
  "urn:pulumi:dev::p::stackadm:network:Network$openstack:networking/network:Network::net";

describe("RunView", () => {
  let said: string[];
  let seconds: number;
  const redactor = new Redactor();
  redactor.add("secret-token-value");
  const progress: Progress = {
    step: (title, expected) => {
      said.push(`> ${title} (${String(expected)})`);
      return {
        update: (detail) => said.push(`  ${detail}`),
        done: () => said.push(`+ ${title}`),
        failed: (note) => said.push(`x ${title}${note === undefined ? "" : `: ${note}`}`),
      };
    },
    note: (text) => said.push(text),
  };
  /** Returns a view that has taken these events, one each second. */
  const view = (
    events: readonly OperationEventBody[],
    options: Pick<RunViewOptions, "direction" | "showsCluster"> = { direction: "up" },
  ): RunView => {
    const shown = new RunView({ progress: redactProgress(progress, redactor), ...options });
    for (const body of events) {
      seconds += 1;
      const at = new Date(seconds * 1000).toISOString();
      shown.processEvent({
        v: 1,
        operation: "id",
        n: seconds,
        at,
        stack: "dev",
        ...body,
      });
    }
    return shown;
  };
  const begin = (title: string, expectedSeconds = 1): OperationEventBody => ({
    type: "step",
    state: "begin",
    title,
    expectedSeconds,
  });
  const end = (title: string, outcome: "done" | "failed" = "done"): OperationEventBody => ({
    type: "step",
    state: "end",
    title,
    outcome,
    seconds: 1,
  });
  const resource = (state: "started" | "finished" | "failed"): OperationEventBody => ({
    type: "resource",
    state,
    urn: network,
    name: "net",
    kind: "Network",
    change: "create",
  });
  const failed: OperationEventBody = {
    type: "done",
    ok: false,
    error: { code: "FAILED", message: "no secret-token-value\nsecond line", hint: "" },
  };
  beforeEach(() => {
    [said, seconds] = [[], 0];
  });

  it("shows each step with the phases of its resources", () => {
    view([
      begin("Ask", 3),
      end("Ask"),
      begin("Bring up", 150),
      resource("started"),
      resource("finished"),
      end("Bring up"),
      { type: "done", ok: true },
    ]);
    assert.deepEqual(said, [
      "> Ask (3)",
      "+ Ask",
      "> Bring up (150)",
      "> Network, router and addresses (25)",
      "  Network net",
      "+ Network, router and addresses",
      "+ Bring up",
    ]);
  });

  it("shows resources as details of the step if the operation has no direction", () => {
    view([begin("Plan"), resource("started"), end("Plan")], {});
    assert.deepEqual(said, ["> Plan (1)", "  net", "+ Plan"]);
  });

  it("shows the clusters unless a plan has shown them", () => {
    const cluster: OperationEventBody = {
      type: "cluster",
      clusters: ["shop"],
      identities: ["0123456789ab"],
      held: true,
    };
    view([cluster]);
    view([cluster], { direction: "destroy", showsCluster: false });
    assert.deepEqual(said, ["Cluster 'shop' (identity 0123456789ab)"]);
  });

  it("redacts secrets in details and messages, and marks warnings and errors", () => {
    view([
      begin("Verify"),
      { type: "step", state: "progress", title: "Verify", detail: "asks secret-token-value" },
      { type: "log", text: "prints secret-token-value" },
      { type: "diagnostic", severity: "info", text: "repaired" },
      { type: "diagnostic", severity: "warning", text: "careful" },
      { type: "diagnostic", severity: "error", text: "no host", urn: network },
    ]);
    assert.deepEqual(said.slice(1), [
      "  asks [secret]",
      "prints [secret]",
      "repaired",
      "! careful",
      "x net: no host",
    ]);
  });

  it("omits warnings that require no action", () => {
    const texts = [
      "using pulumi-resource-openstack from $PATH at /x/pulumi-resource-openstack",
      'provider config warning: property "useOctavia" is deprecated: ...',
    ];
    view(texts.map((text) => ({ type: "diagnostic", severity: "warning", text })));
    assert.deepEqual(said, []);
  });

  it("ends a failed step with the first line of the error", () => {
    view([begin("Ask"), end("Ask", "failed"), failed]);
    assert.deepEqual(said, ["> Ask (1)", "x Ask: no [secret]"]);
  });

  it("ends a failed step without the error if a phase has shown the error", () => {
    view([
      begin("Bring up"),
      resource("started"),
      resource("failed"),
      end("Bring up", "failed"),
      failed,
    ]);
    assert.deepEqual(said.slice(-2), ["x Network, router and addresses", "x Bring up"]);
  });

  it("returns the times of phases, and of steps without phases, in order", () => {
    const shown = view([
      begin("Ask"),
      end("Ask"),
      begin("Bring up"),
      resource("started"),
      resource("finished"),
      end("Bring up"),
      begin("Verify"),
      end("Verify"),
    ]);
    assert.deepEqual(shown.times(), [
      { title: "Ask", milliseconds: 1000 },
      { title: "Network, router and addresses", milliseconds: 1000, resources: 1 },
      { title: "Verify", milliseconds: 1000 },
    ]);
  });
});
