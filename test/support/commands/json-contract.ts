import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";

/**
 * Row of a table in docs/json.md: the code words in its first cell, and the fields in its last
 * cell. Fields in brackets are left out.
 */
interface Row {
  readonly keys: readonly string[];
  readonly fields: readonly string[];
}

const words = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

/** Returns the rows of the table in docs/json.md whose first column has this heading. */
export function tableOf(heading: string): Row[] {
  const lines = readFileSync(join(getPackageRoot(), "docs", "json.md"), "utf8").split("\n");
  const from = lines.findIndex((line) => line.startsWith(`| ${heading} `)) + 2;
  const rows = lines.slice(
    from,
    lines.indexOf("", from) === -1 ? undefined : lines.indexOf("", from),
  );
  return rows
    .filter((line) => line.startsWith("|"))
    .map((line) => {
      const cells = line.split("|").slice(1, -1);
      const fields = (cells.at(-1) ?? "").replaceAll(/\([^)]*\)/g, "");
      return { keys: words(cells[0] ?? ""), fields: words(fields) };
    });
}

const commands = tableOf("Command");
const types = tableOf("Type");

/** Options that take a value. */
const valued = [
  "-s",
  "--stack",
  "-C",
  "--cwd",
  "--cluster",
  "--identity",
  "--kubernetes",
  "--to",
  "--from",
];

function fieldsOf(type: string, args: readonly string[]): readonly string[] {
  const row = types.find(({ keys }) => keys.includes(type));
  assert.ok(row, `docs/json.md has no line of type ${type}`);
  if (type !== "result") return row.fields;
  const said = args
    .filter((word, at) => !word.startsWith("-") && !valued.includes(args[at - 1] ?? ""))
    .join(" ");
  const command = commands.find(({ keys }) =>
    keys.some((key) => said === key || said.startsWith(`${key} `)),
  );
  assert.ok(command, `docs/json.md has no result of ${said}`);
  return command.fields;
}

/** Fields of every line of an operation, in addition to the fields of its type. */
const envelope = ["v", "operation", "n", "at", "stack"];

/** Requires that a command's JSON output has exactly the fields that docs/json.md lists. */
export function requireContract(args: readonly string[], out: string): void {
  for (const text of out.split("\n").filter(Boolean)) {
    const { type, ...line } = JSON.parse(text) as Record<string, unknown>;
    const common = "operation" in line ? envelope : [];
    const fields = [...fieldsOf(String(type), args), ...common];
    const needed = fields.filter((field) => !field.endsWith("?"));
    const known = fields.map((field) => field.replace("?", ""));
    const has = Object.keys(line);
    const what = `${args.join(" ")}: ${String(type)}`;
    assert.deepEqual(
      needed.filter((field) => !has.includes(field)),
      [],
      `${what} lacks`,
    );
    assert.deepEqual(
      has.filter((field) => !known.includes(field)),
      [],
      `${what} is not said to have`,
    );
  }
}
