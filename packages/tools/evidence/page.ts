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
  "# What runs, and where it was seen",
  "",
  "Written by `npm run docs` from `packages/tools/evidence/rows` and `docs/evidence.jsonl`; do not edit.",
  "",
  `Tests write records since ${recordsSince}: each says on which date, with which commit and with which setup a row was last seen to pass, and how many seconds its tests took. Nothing that ran before that date has a record, and none was made up.`,
  "",
  "- **never run**: no record, and no test that could write one. Take it as untried.",
  "- **never run with a record**: a test exists and is linked, and no run of it has left a dated record yet. In the column of containers CI runs these tests: those directly below `test/lab` with every change, of `test/lab/in-turn` and of the examples one at a time, those of `test/lab/all` when all are asked for.",
  "- **Containers**: machines are system containers of [the lab](../packages/lab/README.md), on the kernel of the host. Kernel modules, boot and udev are not those of a machine. In records up to 2026-11-27 ifupdown configures their network, in later ones netplan and systemd-networkd do, as in a cloud image.",
  "- **Kernels**: each machine boots an image with a kernel of its own.",
  "- In both the cloud is the lab: OpenStack's services from Debian's packages, with this project's own drivers for servers, volumes and load balancers. No row says anything about another cloud, unless it names one.",
  "- _scripts only_: the scripts of a machine run in tests, on a folder with files and answers as that system has them. The system itself never ran.",
  "- _graph_: what the program registers is compared in tests, and never run. _dry run_: an API server accepted the objects.",
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
  `[${path.replace(/^test\//, "").replace(/(\.test)?\.ts$/, "")}](../${path})`;

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
  const heads = ["setup", "image", "set in place of defaults", "Pulumi's parts", "Octavia driver"];
  return [
    "## Setups",
    "",
    "_official_: the published plugin. _built_: made here of upstream's Go modules. _stand-in_: this project's own.",
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
