import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { outputLineSchema } from "../../../automation/cli/output-schemas.js";
import { getPackageRoot } from "../../../base/paths.js";

/** Command, and the names of the fields of its result. */
interface DocumentedResult {
  readonly name: string;
  readonly fields: readonly string[];
}

const codeWords = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

/**
 * Returns the results of the commands, as docs/build/events.md lists them. Fields in brackets
 * belong to other fields.
 */
export function listCommandResults(): DocumentedResult[] {
  const page = readFileSync(join(getPackageRoot(), "docs", "build", "events.md"), "utf8");
  const [, text = ""] = page.split("## Results of the commands\n");
  const [list = ""] = text.split(/^## /m);
  const items = [...list.matchAll(/^- `([a-z]+)`:([^]*?)(?=^- |\n\n|$(?![^]))/gm)];
  return items.map(([, name = "", fields = ""]) => ({
    name,
    fields: codeWords(fields.replaceAll(/\([^()]*(\([^)]*\)[^()]*)*\)/g, "")),
  }));
}

const commands = listCommandResults();

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

/** Requires that a result has exactly the fields that the page lists for the command. */
function requireResultFields(args: readonly string[], result: object): void {
  const said = args
    .filter((word, at) => !word.startsWith("-") && !valued.includes(args[at - 1] ?? ""))
    .join(" ");
  const command = commands.find(({ name }) => said === name || said.startsWith(`${name} `));
  assert.ok(command, `docs/build/events.md has no result of ${said}`);
  const { fields } = command;
  const needed = fields.filter((field) => !field.endsWith("?"));
  const known = ["type", ...fields.map((field) => field.replace("?", ""))];
  const has = Object.keys(result);
  assert.deepEqual(
    needed.filter((field) => !has.includes(field)),
    [],
    `${args.join(" ")}: the result lacks`,
  );
  assert.deepEqual(
    has.filter((field) => !known.includes(field)),
    [],
    `${args.join(" ")}: the result has undocumented fields`,
  );
}

/**
 * Requires that every JSON line of a command matches its schema and has no other field, and that
 * the result has the fields in docs/build/events.md.
 */
export function requireContract(args: readonly string[], out: string): void {
  for (const text of out.split("\n").filter(Boolean)) {
    const line = JSON.parse(text) as { readonly type: string };
    // A parsed line contains only the fields of its schema.
    const parsed = outputLineSchema.safeParse(line);
    assert.ok(parsed.success, `${args.join(" ")}: ${text}: ${String(parsed.error)}`);
    assert.deepEqual(parsed.data, line, `${args.join(" ")}: ${line.type} has undocumented fields`);
    if (line.type === "result") requireResultFields(args, line);
  }
}
