import assert from "node:assert/strict";
import { jsonProgress } from "../../../../base/terminal/json-progress.js";

describe("progress for programs", () => {
  it("is one JSON object a line, steps told apart by number", () => {
    const lines: string[] = [];
    let now = Date.parse("2026-01-01T00:00:00Z");
    const progress = jsonProgress(
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
      { at, type: "step", id: 1, state: "started", title: "Servers", expectedSeconds: 30 },
      { at, type: "step", id: 2, state: "started", title: "Workers" },
      { at, type: "step", id: 1, state: "running", title: "Servers", detail: "vm" },
      {
        at: later,
        type: "step",
        id: 1,
        state: "done",
        title: "Servers",
        seconds: 2.5,
        note: "3 resources",
      },
      {
        at: later,
        type: "step",
        id: 2,
        state: "failed",
        title: "Workers",
        seconds: 2.5,
        note: "no",
      },
      { at: later, type: "note", text: "hello" },
    ]);
  });
});
