import assert from "node:assert/strict";
import { createJsonProgress } from "../../../../base/terminal/json-progress.js";

describe("createJsonProgress", () => {
  it("writes one JSON object per line, in the format of events", () => {
    const lines: string[] = [];
    let now = Date.parse("2026-01-01T00:00:00Z");
    const progress = createJsonProgress(
      (line) => lines.push(line),
      () => now,
    );
    const one = progress.step("Servers", 30);
    const two = progress.step("Workers");
    one.update("vm");
    now += 2_500;
    one.done("3 resources");
    two.failed("no");
    progress.note("hello");
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const at = "2026-01-01T00:00:00.000Z";
    const later = "2026-01-01T00:00:02.500Z";
    assert.deepEqual(parsed, [
      { at, type: "step", state: "begin", title: "Servers", expectedSeconds: 30 },
      { at, type: "step", state: "begin", title: "Workers" },
      { at, type: "step", state: "progress", title: "Servers", detail: "vm" },
      {
        at: later,
        type: "step",
        state: "end",
        title: "Servers",
        detail: "3 resources",
        outcome: "done",
        seconds: 2.5,
      },
      {
        at: later,
        type: "step",
        state: "end",
        title: "Workers",
        detail: "no",
        outcome: "failed",
        seconds: 2.5,
      },
      { at: later, type: "diagnostic", severity: "info", text: "hello" },
    ]);
  });
});
