import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../../base/paths.js";
import { renderEvidencePage } from "../../../evidence/page.js";
import type { EvidenceRecord } from "../../../evidence/record.js";
import { createLabProof, type SupportSection } from "../../../evidence/row.js";
import { supportSections as all, supportRows } from "../../../evidence/rows/rows.js";
import { sampleEvidence } from "./sample.js";

const sections: readonly SupportSection[] = [
  {
    title: "Topologies",
    intro: "A sentence.",
    rows: {
      "topology/five": {
        what: "five",
        proofs: [createLabProof("all/control-planes/five")],
        note: "a remark",
      },
      "topology/single": { what: "single" },
    },
  },
];
const record = (at: string, changes: Partial<EvidenceRecord> = {}): EvidenceRecord => ({
  ...sampleEvidence,
  at: `2026-11-${at}T10:00:00.000Z`,
  commit: `c${at}`,
  ...changes,
});
const link = "[lab/all/control-planes/five](../../test/lab/all/control-planes/five.test.ts)";
const page = (...records: EvidenceRecord[]): string => renderEvidencePage(sections, records);
const cells = (text: string, what: string): string[] => {
  const line = text.split("\n").find((one) => one.startsWith(`| ${what} |`));
  assert.ok(line, text);
  return line
    .split("|")
    .map((cell) => cell.trim())
    .slice(2, -1);
};

describe("renderEvidencePage", () => {
  it("shows 'never run' without a record, and whether a test could write one", () => {
    const text = page();
    assert.deepEqual(cells(text, "single"), ["never run", "never run", ""]);
    const five = ["never run with a record", "never run", `${link}; a remark`];
    assert.deepEqual(cells(text, "five"), five);
    assert.match(text, /## Topologies\n\nA sentence\.\n\n\| what/);
    assert.match(text, /No record yet\./);
  });

  it("explains in its first lines the date of the first record and CI's limits", () => {
    const [, beginning = ""] = page().split("\n## ", 1)[0]?.split("Do not edit it.") ?? [];
    assert.match(beginning, /records since 2026-11-27/);
    assert.match(beginning, /CI runs the tests directly in `test\/lab`/);
  });

  it("shows the newest record per kind of machine, with date, commit and seconds", () => {
    const kernel = { machine: "kernel", image: "debian-12-vm", seconds: 3661 } as const;
    const text = page(record("28"), record("27"), record("26", kernel));
    assert.deepEqual(cells(text, "five").slice(0, 2), [
      "2026-11-28, c28, 6 min 52 s, [setup 1](#setups)",
      "2026-11-26, c26, 61 min 01 s, [setup 2](#setups)",
    ]);
  });

  it("distinguishes setups and lists each once", () => {
    const [one, same] = [record("27"), record("27", { row: "topology/single" })];
    assert.match(
      page(one, same),
      /^\| 1 \| debian-12 \| `kubernetes\.packages`, `kubernetes\.registry` \| engine: built, .* \| `lab` \|$/m,
    );
    assert.doesNotMatch(page(one, same), /setup 2/);
    for (const other of [{ overrides: [] }, { octavia: undefined }, { image: "debian-13" }])
      assert.match(page(one, { ...same, ...other }), /setup 2/);
    const bare = page(record("27", { overrides: [], octavia: undefined }));
    assert.match(bare, /^\| 1 \| debian-12 \| none \| .* \| no load balancers \|$/m);
  });

  it("shows that the code had uncommitted changes", () => {
    const [container] = cells(page(record("27", { commit: "abc1234-dirty" })), "five");
    assert.match(container ?? "", /, abc1234 with changes, /);
  });

  it("links to the recording test once", () => {
    const kernel = record("27", { machine: "kernel", test: "test/emulated/five.test.ts" });
    const own = record("27", { test: "test/lab/all/control-planes/five.test.ts" });
    const [, , links] = cells(page(kernel, own), "five");
    assert.equal(links, `${link}; [emulated/five](../../test/emulated/five.test.ts); a remark`);
  });

  it("marks a row with tests of scripts only, and does not count those tests", () => {
    const row = {
      what: "system",
      scripts: ["test/scripts/ubuntu/network.test.ts"],
      note: "a remark",
    };
    const text = renderEvidencePage(
      [{ title: "Systems", rows: { "system/ubuntu-24.04/up": row } }],
      [],
    );
    assert.deepEqual(cells(text, "system"), [
      ...["never run", "never run"],
      "_scripts only_: [scripts/ubuntu/network](../../test/scripts/ubuntu/network.test.ts); a remark",
    ]);
    assert.match(text, /^- _scripts only_: .* never ran\.$/m);
  });

  it("links to existing tests only", () => {
    const paths = Object.values(supportRows).flatMap(({ proofs = [], scripts = [] }) => [
      ...proofs.flatMap(({ file, link = file }) => [file, link]),
      ...scripts,
    ]);
    assert.ok(paths.some((path) => path.includes("/scripts/")));
    for (const path of paths) assert.ok(existsSync(join(getPackageRoot(), path)), path);
  });

  it("does not count tests for an official plugin, which run only if installed", () => {
    const plugin = { name: "command", origin: "official" } as const;
    const row = { what: "official", proofs: [createLabProof("life")], plugin };
    const text = renderEvidencePage(
      [{ title: "Plugins", rows: { "plugins/command-official": row } }],
      [],
    );
    assert.deepEqual(cells(text, "official").slice(0, 2), ["never run", "never run"]);
  });

  it("contains every row under a unique name, and no cell that breaks the table", () => {
    const names = all.flatMap((section) => Object.keys(section.rows));
    assert.deepEqual(names.toSorted(), Object.keys(supportRows).toSorted());
    for (const { what, note = "" } of Object.values(supportRows))
      assert.doesNotMatch(what + note, /[|\n]/);
  });
});
