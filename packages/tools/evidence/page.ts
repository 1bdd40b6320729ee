import { formatDuration } from "../../../base/terminal/progress-screen.js";
import type { EvidenceRecord, TestRunSetup } from "./record.js";
import { pulumiParts, type Proof, type SupportRow, type SupportSection } from "./row.js";

/** First date on which tests wrote records. */
const recordsSince = "2026-11-27";

const tableRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const tableOf = (heads: readonly string[], lines: readonly (readonly string[])[]): string[] => [
  tableRow(heads),
  tableRow(heads.map(() => "---")),
  ...lines.map(tableRow),
];

const introduction = [
  "# Support matrix",
  "",
  "`npm run docs` writes this page from `packages/tools/evidence/rows` and `docs/evidence.jsonl`. Do not edit it.",
  "",
  `Tests have written records since ${recordsSince}. A record has the date, the commit, the setup and the duration of the last run in which the tests of a row passed. Runs before that date have no record.`,
  "",
  "- **never run**: no test writes a record for this row. Treat the row as untried.",
  "- **never run with a record**: a test exists and is linked, but no run has left a record. CI runs the tests directly in `test/lab` with every change, and those of `test/lab/in-turn` and `examples` one at a time. The tests in `test/lab/all` run only with `--all`.",
  "- **Containers**: machines are system containers of [the lab](../../packages/lab/README.md) on the host's kernel. Kernel modules, boot and udev differ from a real machine. In records up to 2026-11-27, ifupdown configures the network; in later records netplan and systemd-networkd do, as in a cloud image.",
  "- **Kernels**: each machine is an emulated virtual machine that boots its own kernel.",
  "- Both columns use the lab as the cloud: OpenStack's services from Debian's packages, with this project's drivers for servers, volumes and load balancers. A row covers another cloud only if it names that cloud.",
  "- _scripts only_: tests run only the machine scripts, on a directory with the files and answers of that system. The system itself never ran.",
  "- _graph_: tests compare what the program registers, and create nothing. _dry run_: an API server accepted the objects.",
  "",
];

const setupKey = ({ image, overrides, plugins, octavia }: TestRunSetup): string =>
  JSON.stringify([
    image,
    [...overrides].sort(),
    pulumiParts.map((piece) => plugins[piece]),
    octavia ?? "",
  ]);

/** Returns the newest record of a row on this kind of machine. */
const newest = (
  records: readonly EvidenceRecord[],
  row: string,
  machine: TestRunSetup["machine"],
): EvidenceRecord | undefined =>
  records
    .filter((one) => one.row === row && one.machine === machine)
    .reduce<EvidenceRecord | undefined>(
      (last, one) => (last && last.at > one.at ? last : one),
      undefined,
    );

/**
 * Returns whether the machines of a proof are containers. They are in the tiers lab and examples.
 * In other tiers, each machine boots its own kernel.
 */
const inContainers = ({ file }: Proof): boolean => /^test\/(lab|examples)\//.test(file);

/**
 * Returns whether a test proves the row on machines of this kind. Returns false for official
 * plugins, because no test installs them.
 */
const isTested = ({ proofs = [], plugin }: SupportRow, machine: TestRunSetup["machine"]): boolean =>
  plugin?.origin !== "official" &&
  proofs.some((proof) => inContainers(proof) === (machine === "container"));

/**
 * Returns the paths of the tests that prove a row, and of the tests that recorded evidence of the
 * row.
 */
function linksOf(
  id: string,
  { proofs = [] }: SupportRow,
  records: readonly EvidenceRecord[],
): string[] {
  const written = records.flatMap(({ row, test }) =>
    row === id && test !== undefined ? [test] : [],
  );
  return [...new Set([...proofs.map(({ link, file }) => link ?? file), ...written])];
}

/**
 * Returns a Markdown link to a test. The text of the link is the path of the test without `test/`.
 */
const linkTo = (path: string): string =>
  `[${path.replace(/^test\//, "").replace(/(\.test)?\.ts$/, "")}](../../${path})`;

const seen = ({ at, commit, seconds }: EvidenceRecord, setup: number): string => {
  const code = commit.replace(/-dirty$/, " with changes");
  return `${at.slice(0, 10)}, ${code}, ${formatDuration(seconds * 1000)}, [setup ${setup}](#setups)`;
};

function setupsTable(setups: readonly TestRunSetup[]): string[] {
  const none = "none";
  const lines = setups.map(({ image, overrides, plugins, octavia }, index) => [
    String(index + 1),
    image,
    overrides.map((path) => `\`${path}\``).join(", ") || none,
    pulumiParts.map((piece) => `${piece}: ${plugins[piece]}`).join(", "),
    octavia === undefined ? "no load balancers" : `\`${octavia}\``,
  ]);
  const heads = ["setup", "image", "overridden defaults", "Pulumi plugins", "Octavia driver"];
  return [
    "## Setups",
    "",
    "_official_: the published plugin. _built_: built by this project from upstream's Go modules. _stand-in_: this project's own implementation.",
    "",
    ...(setups.length === 0 ? ["No record yet."] : tableOf(heads, lines)),
    "",
  ];
}

/**
 * Returns the text of the page. Each row has its newest record on containers, and its newest record
 * on machines with their own kernels. Deterministic.
 */
export function renderEvidencePage(
  sections: readonly SupportSection[],
  records: readonly EvidenceRecord[],
): string {
  const setups = new Map<string, TestRunSetup>();
  const numberOf = (setup: TestRunSetup): number => {
    const key = setupKey(setup);
    if (!setups.has(key)) setups.set(key, setup);
    return [...setups.keys()].indexOf(key) + 1;
  };
  const cell = (id: string, row: SupportRow, machine: TestRunSetup["machine"]): string => {
    const record = newest(records, id, machine);
    if (record) return seen(record, numberOf(record));
    return isTested(row, machine) ? "never run with a record" : "never run";
  };
  const tables = sections.flatMap(({ title, intro, rows }) => {
    const lines = Object.entries(rows).map(([id, row]) => {
      const remarks = [
        ...linksOf(id, row, records).map(linkTo),
        ...(row.scripts ?? []).map((path) => `_scripts only_: ${linkTo(path)}`),
        ...(row.note ? [row.note] : []),
      ];
      return [row.what, cell(id, row, "container"), cell(id, row, "kernel"), remarks.join("; ")];
    });
    const heads = ["what", "containers", "kernels", "tests, remarks"];
    const before = intro === undefined ? [] : [intro, ""];
    return [`## ${title}`, "", ...before, ...tableOf(heads, lines), ""];
  });
  return [...introduction, ...tables, ...setupsTable([...setups.values()])].join("\n");
}
