import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";

/** List item of docs/build/events.md: the name before its colon, and the names of its fields. */
interface DocumentedItem {
  readonly name: string;
  readonly fields: readonly string[];
}

const codeWords = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

/** Returns the list items of a section. Fields in brackets belong to other fields. */
function listItems(section: string, fieldsAfter: string): DocumentedItem[] {
  const page = readFileSync(join(getPackageRoot(), "docs", "build", "events.md"), "utf8");
  const [, text = ""] = page.split(`## ${section}\n`);
  const [list = ""] = text.split(/^## /m);
  const items = [...list.matchAll(/^- `([a-z]+)`(:[^]*?)(?=^- |\n\n|$(?![^]))/gm)];
  return items.map(([, name = "", rest = ""]) => {
    const fields = rest.slice(rest.indexOf(fieldsAfter) + fieldsAfter.length);
    return { name, fields: codeWords(fields.replaceAll(/\([^()]*(\([^)]*\)[^()]*)*\)/g, "")) };
  });
}

/** Returns the results of the commands, as the page lists them. */
export const listCommandResults = (): DocumentedItem[] => listItems("Results of the commands", ":");

const commands = listCommandResults();
const types = listItems("Types", "Fields:");

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
  const row = types.find(({ name }) => name === type);
  assert.ok(row, `docs/build/events.md has no type ${type}`);
  if (type !== "result") return row.fields;
  const said = args
    .filter((word, at) => !word.startsWith("-") && !valued.includes(args[at - 1] ?? ""))
    .join(" ");
  const command = commands.find(({ name }) => said === name || said.startsWith(`${name} `));
  assert.ok(command, `docs/build/events.md has no result of ${said}`);
  return command.fields;
}

/** Fields of every line of an operation, in addition to the fields of its type. */
const envelope = ["v", "operation", "n", "at", "stack"];

/** Requires that a command's JSON output has exactly the fields that docs/build/events.md lists. */
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
      `${what} has undocumented fields`,
    );
  }
}
