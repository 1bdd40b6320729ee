// Moves a package as moves.mjs says, and changes every path to its files.
//
//   node restructure/move.mjs --check tools   lists the changes of texts; changes nothing
//   node restructure/move.mjs tools           moves; run it on a checkout without changes
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format, getFileInfo, resolveConfig } from "prettier";
import { codeEdits } from "./code.mjs";
import { mentionEdits } from "./mentions.mjs";
import { packages, untouched } from "./moves.mjs";
import { Places } from "./places.mjs";
import { wrapped } from "./wrap.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
const isCheck = process.argv.includes("--check");
const names = process.argv.slice(2).filter((name) => name !== "--check");
const places = new Places(
  root,
  names.flatMap((name) => packages[name]),
);

/** Returns the text with these changes, none of which overlaps another. */
function changed(text, edits) {
  let result = text;
  for (const { start, end, text: to } of edits.toSorted((one, other) => other.start - one.start))
    result = result.slice(0, start) + to + result.slice(end);
  return result;
}

const problems = places.clashes.map((file) => `two files would be ${file}`);

function textAfter(file, text) {
  const isCode = /\.(ts|mjs|cjs)$/.test(file);
  const { edits = [], source } = isCode ? codeEdits(file, text, places) : {};
  for (const { problem } of edits)
    if (problem) problems.push(`a path that no rule knows: ${problem}`);
  // The text of a missing module is a program in a string.
  const spans = edits.filter(({ start, missing }) => start !== undefined && !missing);
  const result = changed(text, [
    ...spans,
    ...mentionEdits(file, text, places, { source, taken: spans }),
  ]);
  return /\.(ts|mjs|cjs|sh)$/.test(file) ? wrapped(text, result) : result;
}

async function formatted(file, text) {
  const path = join(root, file);
  const { ignored, inferredParser } = await getFileInfo(path, {
    ignorePath: join(root, ".prettierignore"),
  });
  if (ignored || inferredParser === null) return text;
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}

const texts = new Map();
for (const file of places.files) {
  if (untouched.test(file)) continue;
  const text = readFileSync(join(root, file), "utf8");
  if (text.includes("\0")) continue;
  const after = textAfter(file, text);
  if (after !== text) texts.set(file, { before: text, after });
}
for (const problem of problems) console.log(`problem: ${problem}`);
console.log(`${places.moves.size} files move, ${texts.size} texts change`);
if (isCheck) {
  for (const [file, { before, after }] of texts) {
    const [old, now] = [before.split("\n"), after.split("\n")];
    const lines =
      old.length === now.length ? now.filter((line, index) => line !== old[index]) : now;
    const isImport = (line) => /^(import|export)\b.*from "|^\} from "/.test(line);
    for (const line of lines.filter((one) => !isImport(one)).slice(0, 40))
      console.log(`${file}: ${line.trim().slice(0, 200)}`);
  }
  process.exit(problems.length > 0 ? 1 : 0);
}
if (git("status", "--porcelain", "-uno").trim() !== "") throw new Error("the checkout has changes");
for (const [from, to] of places.moves) {
  mkdirSync(join(root, posix.dirname(to)), { recursive: true });
  git("mv", from, to);
}
for (const [file, { after }] of texts) {
  const to = places.fileAfter(file);
  writeFileSync(join(root, to), await formatted(to, after));
}
git("add", "-A", ".");
