import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../../base/paths.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

const folder = join(getPackageRoot(), "docs", "decisions");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const maxLines = 70;
const maxColumns = 110;
/** Largest number of characters in a cell of a table. */
const maxCell = 60;

const records = readdirSync(folder).filter((file) => file !== "README.md");
const index = read("README.md");

/** Returns the cells of the tables in a record. */
const cellsOf = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^[| :-]+$/.test(line))
    .flatMap((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

/** Returns the problems of a record's form. */
function findProblems(file: string): string[] {
  const text = read(file);
  const lines = text.trimEnd().split("\n");
  const [title = "", blank, date = ""] = lines;
  const sections = lines.filter((line) => line.startsWith("## "));
  const checks: readonly (readonly [boolean, string])[] = [
    [title.startsWith(`# ${file.slice(0, 4)}: `) && !title.endsWith("."), "title"],
    [blank === "" && /^Date: \d{4}-\d{2}-\d{2}$/.test(date), "date below the title"],
    [sections.join() === "## Context,## Decision,## Consequences", "sections"],
    [lines.length <= maxLines, `at most ${maxLines} lines`],
    [lines.every((line) => line.length <= maxColumns), `at most ${maxColumns} columns`],
    [cellsOf(text).every((cell) => cell.length <= maxCell), `cells of ${maxCell} characters`],
  ];
  return checks.flatMap(([isGood, what]) => (isGood ? [] : [`${file}: ${what}`]));
}

describe("decisions", () => {
  it("have the numbers from 0001 on without gaps, and no other files", () => {
    const names = nonEmpty(records).toSorted();
    const expected = names.map((_, position) => String(position + 1).padStart(4, "0"));
    assert.deepEqual(
      names.map((file) => /^(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1] ?? file),
      expected,
    );
  });

  it("have a title, a date, the three sections, and a limited size", () => {
    assert.deepEqual(nonEmpty(records).flatMap(findProblems), []);
  });

  it("are each in the index exactly once, in one line with their number", () => {
    const indexed = index
      .split("\n")
      .flatMap(
        (line) => /^- \[(\d{4})\]\((\S+)\): \S.*\.$/.exec(line)?.slice(1, 3).join(" ") ?? [],
      );
    assert.deepEqual(
      indexed.toSorted(),
      nonEmpty(records)
        .map((file) => `${file.slice(0, 4)} ${file}`)
        .toSorted(),
    );
  });
});
