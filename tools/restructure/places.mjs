// Places of files before and after the move. Paths are relative to the repository, with "/".
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** Folders whose files the map lists completely. */
const mappedFolders = /^(automation|base|cloud|components|test\/(graph|scripts|engine|support))\//;
/** Tests of these folders lie at the path of their source. */
const mirrorFolders = /^test\/(unit|commands)\/(automation|base|cloud|components)\//;

export const trackedFiles = (root) =>
  execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 })
    .split("\0")
    .filter((file) => file !== "" && existsSync(posix.join(root, file)));

const parents = (file) => {
  const found = [];
  for (let dir = posix.dirname(file); dir !== "."; dir = posix.dirname(dir)) found.push(dir);
  return found;
};

/** Returns the folder of most of the files, if one folder has all of them that are mapped. */
function commonFolder(paths) {
  const [first, ...others] = paths.map((path) => posix.dirname(path).split("/"));
  const length = first.findIndex((part, index) => others.some((other) => other[index] !== part));
  return (length < 0 ? first : first.slice(0, length)).join("/");
}

/** Old and new places, by the map and the files that git tracks. */
export class Places {
  /** Path after the move, by the path before. Files that stay are missing. */
  moves = new Map();
  /** Files of the map that are gone, and files that it does not know. */
  gone = [];
  unknown = [];
  #folders = new Map();

  constructor(root, map) {
    this.files = new Set(trackedFiles(root));
    this.dirs = new Set([...this.files].flatMap(parents));
    this.map = map;
    for (const [from, to] of Object.entries({ ...map.moves, ...map.tests })) {
      if (!this.files.has(from)) this.gone.push(from);
      else if (from !== to) this.moves.set(from, to);
    }
    const known = new Set(Object.keys({ ...map.moves, ...map.tests }));
    for (const file of this.files) {
      if (known.has(file)) continue;
      if (mirrorFolders.test(file)) {
        const to = this.#mirrorOf(file);
        if (to !== undefined && to !== file) this.moves.set(file, to);
        if (to === undefined) this.unknown.push(file);
      } else if (mappedFolders.test(file)) this.unknown.push(file);
    }
    for (const dir of this.dirs) this.#folders.set(dir, this.#folderAfter(dir));
    const targets = [...this.files].map((file) => this.fileAfter(file));
    this.clashes = targets.filter((file, index) => targets.indexOf(file) !== index);
    this.after = new Set(targets);
    this.dirsAfter = new Set(targets.flatMap(parents));
  }

  fileAfter(file) {
    return this.moves.get(file) ?? file;
  }

  /** Returns the place of a new test whose source is in the map. */
  #mirrorOf(test) {
    const [, tier, path] = /^test\/([a-z]+)\/(.*)\.test\.ts$/.exec(test) ?? [];
    if (path === undefined) return undefined;
    for (let name = path; name.includes("/"); name = name.replace(/-?[^-/]*$/, "")) {
      const to = this.map.moves[`${name}.ts`];
      if (to !== undefined && name !== posix.dirname(path))
        return `test/${tier}/${to.replace(/\.ts$/, "")}${path.slice(name.length)}.test.ts`;
    }
    return undefined;
  }

  #folderAfter(dir) {
    const written = this.map.folders[dir];
    if (written !== undefined) return written;
    const inside = [...this.files].filter((file) => file.startsWith(`${dir}/`));
    const to = inside.map((file) => this.fileAfter(file));
    if (to.some((file) => file.startsWith(`${dir}/`))) return dir;
    const common = commonFolder(to);
    return common.includes("/") || !dir.includes("/") ? common : undefined;
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
    if (file !== undefined) {
      const to = this.fileAfter(file);
      if (path === file) return to;
      if (path.endsWith(".js")) return to.replace(/\.ts$/, ".js");
      return path.endsWith("/index") || !file.endsWith("/index.ts")
        ? to.replace(/\.ts$/, "")
        : posix.dirname(to);
    }
    if (this.dirs.has(path)) return this.#folders.get(path);
    const above = posix.dirname(path);
    const folder = above === "." ? "" : this.pathAfter(above);
    return folder === undefined ? undefined : posix.join(folder, posix.basename(path));
  }
}

export const readMap = (file) => JSON.parse(readFileSync(file, "utf8"));
