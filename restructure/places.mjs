// Places of files before and after the move. Paths are relative to the repository, with "/".
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { posix } from "node:path";

const trackedFiles = (root) =>
  execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 })
    .split("\0")
    .filter((file) => file !== "" && existsSync(posix.join(root, file)));

const parents = (file) => {
  const found = [];
  for (let dir = posix.dirname(file); dir !== "."; dir = posix.dirname(dir)) found.push(dir);
  return found;
};

/** Old and new places, by the rules and the files that git tracks. */
export class Places {
  /** Path after the move, by the path before. Files that stay are missing. */
  moves = new Map();
  #rules;

  constructor(root, rules) {
    this.#rules = rules;
    this.files = new Set(trackedFiles(root));
    this.dirs = new Set([...this.files].flatMap(parents));
    for (const file of this.files) {
      const to = this.#moved(file);
      if (to !== file) this.moves.set(file, to);
    }
    const targets = [...this.files].map((file) => this.fileAfter(file));
    const seen = new Set();
    this.clashes = targets.filter((file) => seen.size === seen.add(file).size);
  }

  #moved(path) {
    const rule = this.#rules.find(([from]) => from.test(path));
    return rule ? path.replace(...rule) : path;
  }

  fileAfter(file) {
    return this.moves.get(file) ?? file;
  }

  /** Returns the file that a path means before the move: itself, or the source of its `.js`. */
  fileOf(path) {
    const tries = [path, path.replace(/\.js$/, ".ts"), `${path}.ts`, `${path}/index.ts`];
    return tries.find((file) => this.files.has(file));
  }

  /** Returns the path after the move of a file or folder, or of something in a folder. */
  pathAfter(path) {
    if (path === "" || path === "." || path.startsWith("..")) return path;
    const file = this.fileOf(path);
    if (file === undefined) return this.#moved(`${path}/`).replace(/\/$/, "");
    const to = this.fileAfter(file);
    if (path === file) return to;
    return path.endsWith(".js") ? to.replace(/\.ts$/, ".js") : to.replace(/(\/index)?\.ts$/, "");
  }
}
