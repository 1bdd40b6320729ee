// Moves files as map.json says, and changes every path to them. Deleted after its execution.
//
//   node tools/restructure/move.mjs --check   reports what the map lacks; changes nothing
//   node tools/restructure/move.mjs           moves, then verifies; run it on a clean checkout
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format, getFileInfo, resolveConfig } from "prettier";
import { codeEdits } from "./code.mjs";
import { mentionEdits } from "./mentions.mjs";
import { Places, readMap, trackedFiles } from "./places.mjs";
import { verify } from "./verify.mjs";
import { wrapped } from "./wrap.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const map = readMap(join(here, "map.json"));
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" });

/** Text that no move changes: records of what was, and what the tests compare byte by byte. */
const untouched = new RegExp(map.untouched.join("|"));

/** Returns the text with these changes, none of which overlaps another. */
function changed(text, edits) {
  let result = text;
  for (const { start, end, text: to } of edits.toSorted((one, other) => other.start - one.start))
    result = result.slice(0, start) + to + result.slice(end);
  return result;
}

function textAfter(file, text, places, problems) {
  if (map.sameText.includes(file)) return text;
  const isCode = /\.(ts|mjs|cjs)$/.test(file);
  const { edits = [], folders, source } = isCode ? codeEdits(file, text, places) : {};
  for (const { problem, missing } of edits) {
    if (problem) problems.push(`a path that no rule knows: ${problem}`);
    if (missing) problems.push(`${file}: imports ${missing}, which is not tracked`);
  }
  const spans = edits.filter(({ start }) => start !== undefined);
  const mentions = mentionEdits(file, text, places, { source, folders, taken: spans });
  if (!replacedIn.has(places.fileAfter(file))) problems.push(...mentions.problems);
  const result = changed(text, [...spans, ...mentions.edits]);
  return /\.(ts|mjs|cjs|sh)$/.test(file) ? wrapped(text, result) : result;
}

/**
 * Applies the changes that the map spells out, for what no rule can know: `find`, or all from `find`
 * up to `until`, becomes `replace`.
 */
function spelledOut(texts, problems) {
  for (const { file, find, until = "", replace, optional } of map.edits) {
    const text = texts.get(file) ?? "";
    const start = text.indexOf(find);
    const end = until === "" ? start + find.length : text.indexOf(until, start);
    if (optional && start < 0) console.log(`edit of ${file}: done before`);
    else if (start < 0 || end < 0 || text.includes(find, start + 1))
      problems.push(`edit of ${file}: ${JSON.stringify(find.slice(0, 60))} is not there once`);
    else texts.set(file, text.slice(0, start) + replace + text.slice(end));
  }
}

const withoutComments = (script) => script.replace(/^[ \t]*#.*\n/gm, "");

async function formatted(file, text) {
  const path = join(root, file);
  const { ignored, inferredParser } = await getFileInfo(path, {
    ignorePath: join(root, ".prettierignore"),
  });
  if (ignored || inferredParser === null) return text;
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}

/** Files of which an edit replaces a part: mentions of folders in it are no problem. */
const replacedIn = new Set(map.edits.filter(({ until }) => until).map(({ file }) => file));

const places = new Places(root, map);
const problems = places.clashes.map((file) => `two files would be ${file}`);
for (const file of places.gone) console.log(`of the map, but gone: ${file}`);
for (const file of places.unknown) console.log(`not in the map: ${file}`);

const texts = new Map();
const befores = new Map();
for (const file of places.files) {
  if (untouched.test(file)) continue;
  const text = readFileSync(join(root, file), "utf8");
  if (text.includes("\0")) continue;
  const after = textAfter(file, text, places, problems);
  if (file.endsWith(".sh") && withoutComments(after) !== withoutComments(text))
    problems.push(`${file}: more than a comment would change`);
  befores.set(places.fileAfter(file), text);
  texts.set(places.fileAfter(file), after);
}
spelledOut(texts, problems);

const isCheck = process.argv.includes("--check");
const mayLeave = process.argv.includes("--leave-unknown");
for (const problem of problems) console.log(`problem: ${problem}`);
const count = [...texts].filter(([file, text]) => befores.get(file) !== text).length;
console.log(`${places.moves.size} files move, ${count} texts change`);
if (isCheck || problems.length > 0 || (places.unknown.length > 0 && !mayLeave)) {
  process.exit(problems.length + places.unknown.length > 0 ? 1 : 0);
}

if (git("status", "--porcelain", "-uno").trim() !== "") throw new Error("the checkout has changes");
// In two steps, because a file may take the place of another one that moves.
const aside = (file) => `.moving/${file}`;
const renames = (pairs) => {
  for (const [from, to] of pairs) {
    mkdirSync(join(root, posix.dirname(to)), { recursive: true });
    git("mv", from, to);
  }
};
const crossing = [...places.moves].filter(([, to]) => places.files.has(to)).map(([from]) => from);
const waiting = new Set([
  ...crossing,
  ...[...places.moves]
    .map(([from]) => from)
    .filter((from) => [...places.moves.values()].includes(from)),
]);
renames([...waiting].map((from) => [from, aside(from)]));
renames([...places.moves].map(([from, to]) => [waiting.has(from) ? aside(from) : from, to]));
for (const [file, text] of texts) {
  if (befores.get(file) === text) continue;
  writeFileSync(join(root, file), await formatted(file, text));
}
for (const dir of [...places.dirs].toSorted().reverse()) {
  const path = join(root, dir);
  if (existsSync(path) && readdirSync(path).length === 0) rmdirSync(path);
}
git("add", "-A", ".");
const left = verify(root, map, places, trackedFiles(root), untouched);
for (const problem of left) console.log(`left: ${problem}`);
console.log(left.length === 0 ? "moved and verified" : `moved; ${left.length} mentions are left`);
process.exitCode = left.length === 0 ? 0 : 1;
