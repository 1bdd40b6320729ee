// Renames exported names as names.json says. Deleted after its execution.
//
//   node tools/restructure/rename.mjs --check   reports names that are gone or taken; changes nothing
//   node tools/restructure/rename.mjs           renames; run it after move.mjs or before
//
// The paths of names.json are those before the move; map.json tells where the files are now.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import ts from "typescript";
import { readMap, trackedFiles } from "./places.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const { moves } = readMap(join(here, "map.json"));
const names = readMap(join(here, "names.json"));
const placeOf = (file) => (existsSync(join(root, file)) ? file : moves[file]);
const files = trackedFiles(root).filter((file) => file.endsWith(".ts"));
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
const parse = (file) => ts.createSourceFile(file, texts.get(file), ts.ScriptTarget.Latest, true);

/** Returns the identifiers of a file: where each one stands first. */
function identifiersOf(source) {
  const found = new Map();
  const visit = (node) => {
    const isField =
      (ts.isPropertyAccessExpression(node.parent ?? node) && node.parent.name === node) ||
      ts.isPropertySignature(node.parent ?? node) ||
      ts.isPropertyAssignment(node.parent ?? node);
    if (ts.isIdentifier(node) && !isField && !found.has(node.text))
      found.set(node.text, node.getStart(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const sources = new Map(files.map((file) => [file, parse(file)]));
const identifiers = new Map([...sources].map(([file, source]) => [file, identifiersOf(source)]));

/** Returns the files that import `name` from `file`. */
const usersOf = (file, name) =>
  files.filter((user) =>
    sources.get(user).statements.some((one) => {
      const module = one.moduleSpecifier?.text;
      const isFrom =
        module?.startsWith(".") &&
        posix.join(posix.dirname(user), module).replace(/\.js$/, ".ts") === file;
      const bindings = one.importClause?.namedBindings ?? one.exportClause;
      return (
        isFrom && bindings?.elements?.some((each) => (each.propertyName ?? each.name).text === name)
      );
    }),
  );

const problems = [];
const work = [];
for (const { file: written, name, to } of names) {
  const file = placeOf(written);
  const at = file && identifiers.get(file)?.get(name);
  if (at === undefined) {
    problems.push(`${written}: ${name} is gone`);
    continue;
  }
  for (const user of [file, ...usersOf(file, name)])
    if (identifiers.get(user).has(to)) problems.push(`${user}: ${to} is taken (for ${name})`);
  work.push({ file, name, to });
}
for (const problem of problems) console.log(problem);
console.log(`${work.length} names, ${problems.length} problems`);
if (process.argv.includes("--check") || problems.some((one) => one.includes("is taken")))
  process.exit(problems.length > 0 ? 1 : 0);

const config = ts.getParsedCommandLineOfConfigFile(join(root, "tsconfig.json"), undefined, {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: (one) => {
    throw new Error(ts.flattenDiagnosticMessageText(one.messageText, "\n"));
  },
});
const versions = new Map();
const relativeOf = (path) => posix.relative(root, path);
const service = ts.createLanguageService({
  getCompilationSettings: () => config.options,
  getScriptFileNames: () => config.fileNames,
  getScriptVersion: (path) => String(versions.get(relativeOf(path)) ?? 0),
  getScriptSnapshot: (path) => {
    const text = texts.get(relativeOf(path)) ?? ts.sys.readFile(path);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

const changed = new Set();

/** Renames what is declared at a place, and keeps the names of fields and of exports. */
function rename(file, at, to) {
  const options = { providePrefixAndSuffixTextForRename: true };
  const places = service.findRenameLocations(join(root, file), at, false, true, options) ?? [];
  const touched = new Set();
  const backwards = places.toSorted((one, other) => other.textSpan.start - one.textSpan.start);
  for (const { fileName, textSpan, prefixText = "", suffixText = "" } of backwards) {
    const one = relativeOf(fileName);
    const text = texts.get(one);
    const end = textSpan.start + textSpan.length;
    const after = prefixText + to + suffixText;
    texts.set(one, text.slice(0, textSpan.start) + after + text.slice(end));
    touched.add(one);
  }
  for (const one of touched) {
    versions.set(one, (versions.get(one) ?? 0) + 1);
    changed.add(one);
  }
  return [...touched];
}

for (const { file, name, to } of work) {
  const at = identifiersOf(service.getProgram().getSourceFile(join(root, file))).get(name);
  for (const user of rename(file, at, to)) {
    // The service keeps the name in files that import it: `to as name`.
    const alias = new RegExp(`\\b${to} as ${name}\\b`);
    const start = alias.exec(texts.get(user))?.index;
    if (start === undefined || user.endsWith("/index.ts")) continue;
    rename(user, start + `${to} as `.length, to);
    texts.set(user, texts.get(user).replace(`${to} as ${to}`, to));
    versions.set(user, versions.get(user) + 1);
  }
}
for (const file of changed) {
  const path = join(root, file);
  const text = await format(texts.get(file), { ...(await resolveConfig(path)), filepath: path });
  writeFileSync(path, text);
}
console.log(`${changed.size} files changed`);
