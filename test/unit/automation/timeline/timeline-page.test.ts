import { strict as assert } from "node:assert";
import type { TimelineRow } from "../../../../automation/timeline/critical-path.js";
import { renderTimelinePage } from "../../../../automation/timeline/timeline-page.js";

const row = (name: string, startedAt: number, endedAt: number, critical: boolean): TimelineRow => ({
  urn: `urn:pulumi:dev::p::t:i:T::${name}`,
  name,
  type: "Network",
  phase: "network",
  operation: "create",
  startedAt,
  endedAt,
  critical,
});

describe("renderTimelinePage", () => {
  const rows = [
    ...[row("net", 1_000, 3_000, true), row("key", 1_000, 1_500, false)],
    row('<server> & "co"', 3_500, 11_000, true),
  ];
  const page = renderTimelinePage("dev", rows);

  it("shows for each link of the critical path its start, waiting time and duration", () => {
    const table = /<table>([\s\S]*)<\/table>/.exec(page)?.[1] ?? "";
    const cells = [...table.matchAll(/<tr>(<td.*?)<\/tr>/g)].map(([, text = ""]) =>
      text
        .split("</td>")
        .map((cell) => cell.replace(/^<td[^>]*>/, ""))
        .slice(0, 5),
    );
    assert.deepEqual(cells, [
      ["0.0", "0.0", "2.0", "create", "net"],
      ["2.5", "0.5", "7.5", "create", "&lt;server&gt; &amp; &quot;co&quot;"],
    ]);
  });

  it("draws a bar for each resource at its time, and marks the critical ones", () => {
    assert.equal(page.match(/class="bar"/g)?.length, 3);
    assert.equal(page.match(/class="row critical"/g)?.length, 2);
    assert.match(page, /left:25\.00%;width:75\.00%/);
  });

  it("loads nothing external and runs no script", () => {
    assert.doesNotMatch(page, /https?:|<script|<link|url\(|<server>/);
  });
});
