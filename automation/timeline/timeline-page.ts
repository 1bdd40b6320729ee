import type { TimelineRow } from "./critical-path.js";
import { phaseFacts } from "../pulumi/phases.js";

/*
 * HTML page that shows how long each part of an `up` took. The page is one file. It has the
 * critical path as a table, and a bar for each resource.
 */

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);

const titleOf = ({ phase }: TimelineRow): string => (phase ? phaseFacts[phase].title : "");

/**
 * Returns the rows of the critical path's table. Each row has the start of a resource, the wait
 * since the end of the previous resource, and the duration of the resource, in seconds.
 */
function pathRows(rows: readonly TimelineRow[], beginning: number): string {
  const path = rows.filter(({ critical }) => critical);
  return path
    .map((row, index) => {
      const waited = row.startedAt - (path[index - 1]?.endedAt ?? beginning);
      const cells = [row.operation, row.name, row.type, titleOf(row)].map(escaped);
      const numbers = [row.startedAt - beginning, waited, row.endedAt - row.startedAt].map(seconds);
      return `<tr>${numbers.map((one) => `<td class="n">${one}</td>`).join("")}${cells.map((one) => `<td>${one}</td>`).join("")}</tr>`;
    })
    .join("\n");
}

/** Returns a bar for each resource, placed on the time axis. */
function bars(rows: readonly TimelineRow[], beginning: number, length: number): string {
  const percent = (milliseconds: number): string => ((100 * milliseconds) / length).toFixed(2);
  return rows
    .map((row) => {
      const [from, took] = [row.startedAt - beginning, row.endedAt - row.startedAt];
      const label = `${row.operation} ${row.name} (${row.type}): ${seconds(from)} s + ${seconds(took)} s`;
      const position = `left:${percent(from)}%;width:${percent(took)}%`;
      return `<div class="row${row.critical ? " critical" : ""}" title="${escaped(label)}"><span class="name">${escaped(row.name)}</span><span class="lane"><span class="bar" style="${position}"></span></span><span class="n">${seconds(took)}</span></div>`;
    })
    .join("\n");
}

const style = `
body { font: 13px system-ui, sans-serif; margin: 2em; color: #222; background: #fff; }
table { border-collapse: collapse; } td, th { padding: 1px 12px 1px 0; text-align: left; } .n { text-align: right; }
.row { display: flex; align-items: center; height: 15px; font-size: 11px; } .row:hover { background: #eef; }
.name { flex: 0 0 26em; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; } .row > .n { flex: 0 0 4em; }
.lane { flex: 1; position: relative; height: 10px; } .bar { position: absolute; height: 10px; min-width: 2px; background: #9bb7d4; }
.critical .bar { background: #c0392b; } .critical .name { font-weight: bold; }
`;

/**
 * Returns the page as HTML.
 *
 * @param rows rows by start time; at least one
 */
export function renderTimelinePage(stack: string, rows: readonly TimelineRow[]): string {
  const beginning = Math.min(...rows.map(({ startedAt }) => startedAt));
  const length = Math.max(1, ...rows.map(({ endedAt }) => endedAt - beginning));
  const title = escaped(`up of ${stack}, ${new Date(beginning).toISOString()}`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head><body>
<h1>${title}</h1>
<p>${String(rows.length)} resources in ${seconds(length)} s, from the first one's beginning to the last one's end.</p>
<h2>Critical path</h2>
<p>Each resource began when the resource above it was finished. Resources that are not in this table did not extend the duration.</p>
<table><tr><th class="n">at s</th><th class="n">waited s</th><th class="n">took s</th><th></th><th>resource</th><th>type</th><th>phase</th></tr>
${pathRows(rows, beginning)}
</table>
<h2>All</h2>
${bars(rows, beginning, length)}
</body></html>
`;
}
