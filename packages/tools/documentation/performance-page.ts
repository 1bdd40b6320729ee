import { defaultOpenstackPlugin } from "../../../base/versions/pulumi-openstack-versions.js";
import { drawPhases } from "../../bench/support/drawing.js";
import type { BenchRecord } from "../../bench/support/records.js";
import type { Figures } from "../../bench/support/statistics.js";
import { findBareCallsRecord, numbersTable, selectNumbers } from "./benchmark-numbers.js";
import { generatedPage } from "./markdown.js";

const plugin = "pulumi-resource-openstack";

/** Returns a line for each compared tool: the versions in the record, the runs and the machine. */
function conditionLines(records: readonly BenchRecord[]): string[] {
  const compared = new Map(
    selectNumbers(records).map(({ other, record }) => [other.name, record] as const),
  );
  return [...compared].map(([name, { versions, columns, processors, gibibytes }]) => {
    const programs = Object.entries(versions).map(([program, version]) => `${program} ${version}`);
    const runs = Math.min(...columns.map((column) => column.runs.length));
    return `- Against ${name}: ${programs.join(", ")}; ${runs} runs of each tool; ${processors} processors, ${gibibytes} GiB.`;
  });
}

/** Returns what the records say about the default version of the OpenStack plugin. */
function pluginLines(records: readonly BenchRecord[]): string[] {
  const measured = new Set(
    selectNumbers(records).map(({ record }) => record.versions[plugin] ?? "an unknown version"),
  );
  const others = [...measured].filter((version) => version !== defaultOpenstackPlugin);
  if (others.length === 0) return [];
  return [
    `- **The numbers are of OpenStack plugin ${others.join(" and ")}, and the default is ${defaultOpenstackPlugin}.** Nothing was compared with the default. Times of stackadm alone with both versions: [upgrade stackadm](../operate/upgrade-stackadm.md).`,
  ];
}

/** Returns the text of docs/reference/performance.md. */
export const performancePage = (records: readonly BenchRecord[]): string =>
  [
    ...generatedPage("Performance", "packages/bench/records.jsonl"),
    "How long `stackadm` takes, compared with the fastest possible calls of the same APIs, and with Terraform. Every number is a ratio within one run on [the lab](../../packages/lab/README.md). A ratio above 1 means that stackadm takes longer. `1 + 2` is one control plane and two workers.",
    "",
    "## Numbers",
    "",
    ...numbersTable(records),
    "",
    "The seconds are the least of the runs: stackadm to the other tool. Use the ratio. The seconds of two rows are not comparable if date or commit differ.",
    "",
    ...conditionLines(records),
    "",
    "## Chart",
    "",
    "![Seconds until each moment of `up`, for bare calls and stackadm](performance.svg)",
    "",
    "Median seconds until each moment of `up` is reached. From the record of the first three numbers.",
    "",
    "## Method",
    "",
    "1. One command runs both tools alternately on the same lab, because a machine is never equally fast an hour later.",
    "2. `up` ends when the nodes are Ready, the sample Services answer, and data was read back from a volume.",
    "3. `destroy` ends when the project is as before, and includes the worker that was added.",
    "4. **Bare calls** are a lower bound: each object is created by one call as soon as its inputs are known, and nothing waits without need. Scripts and manifests are those of stackadm.",
    "5. **Terraform** gets a configuration with the same OpenStack objects, inputs and dependencies. Each script runs over one SSH connection.",
    "6. The Kubernetes objects of the Terraform configuration are one `kubectl apply`, and no other resource waits for them.",
    "7. Writing the configuration and `terraform init` do not count. Both tools use their own default number of parallel actions.",
    "8. The lab runs everything on one machine: the services of OpenStack, and all machines of the cluster as containers.",
    "9. Nothing else runs on this machine during a benchmark.",
    "10. The [benchmarks](../../packages/bench/README.md) describe the details and the commands.",
    "",
    "## What the numbers do not show",
    "",
    ...pluginLines(records),
    "- A number belongs to the commit in its row. Later commits were not measured.",
    "- No real cloud was measured. Calls and boots of servers take other times there.",
    "- Machines boot as containers, without firmware and kernel.",
    "- Clusters with several control planes or many workers have [other records](../../packages/bench/README.md#other-records).",
    "",
    "## Related",
    "",
    "- [Create or change](../operate/create-or-change.md): sizes that were measured, and their limits",
    "- [Slow machines](../incidents/slow-machines.md)",
    "- [Support matrix](support-matrix.md), [reliability](reliability.md)",
    "",
  ].join("\n");

/** Figures of a record that are no moments of the first `up`. */
const otherFigures = ["one more worker", "destroy"];

/** Returns the text of docs/reference/performance.svg: the moments of the first `up`. */
export function performanceChart(records: readonly BenchRecord[]): string {
  const { columns } = findBareCallsRecord(records);
  const ofUp = (figures: Figures): Figures =>
    Object.fromEntries(Object.entries(figures).filter(([name]) => !otherFigures.includes(name)));
  return drawPhases({ columns: columns.map(({ name, runs }) => ({ name, runs: runs.map(ofUp) })) });
}

const marked = /(<!-- numbers -->\n)[\s\S]*(\n<!-- end of numbers -->)/;

/** Returns the README of the benchmarks with the present numbers between its two comments. */
export function insertNumbers(readme: string, records: readonly BenchRecord[]): string {
  if (!marked.test(readme)) throw new Error("The README has no comments around the numbers.");
  const numbers = [...numbersTable(records), "", ...conditionLines(records)].join("\n");
  return readme.replace(marked, (_, from: string, to: string) => `${from}\n${numbers}\n${to}`);
}
