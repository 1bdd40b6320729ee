import assert from "node:assert/strict";
import type { OperationEvent } from "../../../../../../automation/engine/operation-events.js";
import { parseEvents, readUpRun, selectTimes } from "../../../../documentation/pictures/up-run.js";
import { numbered, sampleMoments } from "./sample-run.js";

const events = numbered(sampleMoments);

describe("readUpRun", () => {
  it("returns steps, and phases instead of the step that runs the engine", () => {
    const { parts, milliseconds, day } = readUpRun(events);
    assert.deepEqual(
      parts.map(({ title, from, to, resources }) => [title, from, to, resources.length]),
      [
        ["Ask the cloud", 0, 2_000, 0],
        ["Network, router and addresses", 3_000, 30_000, 3],
        ["Verify the cluster", 60_000, 70_000, 0],
      ],
    );
    assert.deepEqual([milliseconds, day], [70_000, "2026-01-02"]);
  });

  it("refuses a run that failed, and work that does not finish", () => {
    const failed = numbered([...sampleMoments.slice(0, -1), [70, { type: "done", ok: false }]]);
    assert.throws(() => readUpRun(failed), /not those of an `up` that succeeded/);
    const cut = events.filter((one) => one.type !== "resource" || one.state !== "finished");
    assert.throws(() => readUpRun(cut), /the work on one does not finish/);
    const open = events.filter((one) => one.type !== "step" || one.state !== "end");
    assert.throws(() => readUpRun(open), /the step "Ask the cloud" does not end/);
  });
});

describe("selectTimes", () => {
  it("keeps what the timeline needs, without details of the machine", () => {
    const download = { type: "step", state: "begin", title: "Download plugins", at: events[0]?.at };
    const kept = selectTimes([download as OperationEvent, ...events]);
    const text = kept.map((event) => JSON.stringify(event)).join("\n");
    assert.deepEqual(readUpRun(parseEvents(text)), readUpRun(events));
    assert.doesNotMatch(text, /192\.0\.2\.7|\/home/);
  });
});
