// Checks after the move: no import without its file, no mention of a path that is gone, the rules.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";

const imports = (text) => ts.preProcessFile(text, true, true).importedFiles;

function* danglingImports(root, files) {
  const known = new Set(files);
  for (const file of files.filter((one) => /\.(ts|mjs|cjs)$/.test(one)))
    for (const { fileName } of imports(readFileSync(join(root, file), "utf8"))) {
      if (!fileName.startsWith(".")) continue;
      const path = posix.join(posix.dirname(file), fileName);
      const tries = [path, path.replace(/\.js$/, ".ts"), `${path}.ts`, `${path}/index.ts`];
      if (!tries.some((one) => known.has(one))) yield `${file}: imports ${fileName}`;
    }
}

/** Returns how people write a path: from the root, or without its first folders. */
function spellings(path) {
  const parts = path.replace(/\.ts$/, "").split("/");
  return parts.slice(0, -1).map((_, index) => parts.slice(index).join("/"));
}

function* oldMentions(root, map, { moves, after, dirs, dirsAfter }, files, untouched) {
  const names = new Set([...after].map((file) => posix.basename(file)));
  const old = new Map();
  for (const [from, to] of moves) {
    for (const one of spellings(from)) if (!spellings(to).includes(one)) old.set(one, from);
    const name = posix.basename(from);
    if (!names.has(name)) old.set(name, from);
  }
  // Spellings that a file has after the move, too, are no mention of what is gone.
  for (const file of after) for (const one of spellings(file)) old.delete(one);
  const same = new Set(map.sameText.map((file) => moves.get(file) ?? file));
  const isSame = (file) => same.has(file);
  const gone = new Set([...dirs].filter((dir) => !dirsAfter.has(dir)));
  for (const file of files) {
    if (untouched.test(file) || isSame(file)) continue;
    const text = readFileSync(join(root, file), "utf8");
    for (const [number, line] of text.split("\n").entries())
      for (const [run] of line.matchAll(/[\w@./-]+/g)) {
        const word = run.replace(/[.-]+$/, "").replace(/^\.?\//, "");
        const hit = old.get(word.replace(/\.(ts|js)$/, "")) ?? old.get(word);
        const folder = word.replace(/\/$/, "");
        const isModule = word.includes("/") || /\.(ts|sh)$/.test(word);
        if (hit && isModule && !map.notPaths.includes(word))
          yield `${file}:${number + 1}: ${word} (was ${hit})`;
        else if (gone.has(folder) && word.includes("/") && !map.notPaths.includes(word))
          yield `${file}:${number + 1}: the folder ${word}`;
      }
  }
}

function* brokenRules(map, files) {
  const folders = new Map();
  for (const file of files.filter((one) => map.limited.some((top) => one.startsWith(`${top}/`)))) {
    const folder = posix.dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  for (const [folder, inside] of folders) {
    if (inside.length > 20) yield `${folder} has ${inside.length} files`;
    const isMirror = folder.startsWith("test/") && !folder.startsWith("test/support");
    const hasFolders = [...folders.keys()].some((one) => one.startsWith(`${folder}/`));
    if (inside.length === 1 && !isMirror && !hasFolders) yield `${folder} has a single file`;
  }
}

export const verify = (root, map, places, files, untouched) => [
  ...danglingImports(root, files),
  ...oldMentions(root, map, places, files, untouched),
  ...brokenRules(map, files),
];
