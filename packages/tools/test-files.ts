import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { listRecentlyChangedFiles, countCommits } from "./changed-files.js";

/** Folder of test files that run only with `--all`. */
const onlyWithAll = "all";
/** Folder of test files that take turns: without `--all`, only one of these files runs. */
const inTurn = "in-turn";

interface Choice {
  /** Directory of the repository. */
  readonly root: string;
  /** Whether to include files that run only with `--all`. */
  readonly all: boolean;
  readonly order: TestFileOrder;
}

/**
 * Order in which a tier's files run. With `largest first`, a large file does not start last and run
 * alone.
 */
export type TestFileOrder = "by path" | "largest first" | { readonly seed: number };

/** Returns the files in the given order. The input is sorted by path. */
function inOrder(files: readonly string[], order: TestFileOrder, root: string): string[] {
  if (order === "by path") return [...files];
  const key = (file: string): number =>
    order === "largest first"
      ? -statSync(file).size
      : createHash("sha256")
          .update(`${order.seed} ${relative(root, file)}`)
          .digest()
          .readUIntBE(0, 6);
  return files.toSorted((one, other) => key(one) - key(other));
}

/**
 * Returns the file whose turn it is: the file that recent commits changed most often. If they
 * changed none of the files, each new commit selects the next file.
 */
function whoseTurn(files: readonly string[], root: string): string | undefined {
  const changed = listRecentlyChangedFiles(root);
  const count = (file: string): number =>
    changed.filter((one) => one === relative(root, file)).length;
  const first = countCommits(root) % files.length;
  const turns = [...files.slice(first), ...files.slice(0, first)];
  return turns.toSorted((one, other) => count(other) - count(one))[0];
}

/**
 * Returns the folders of a tier: first the folder of the product, then the folders of the packages.
 */
function foldersOf(tier: string, root: string): string[] {
  const packages = join(root, "packages");
  const names = existsSync(packages) ? readdirSync(packages).sort() : [];
  return [root, ...names.map((name) => join(packages, name))]
    .map((directory) => join(directory, "test", tier))
    .filter((directory) => existsSync(directory));
}

/** Returns the test files of a tier. */
export function listTestFiles(tier: string, { root, all, order }: Choice): string[] {
  const folders = foldersOf(tier, root);
  const every = folders.flatMap((directory) =>
    readdirSync(directory, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort(),
  );
  const below = (name: string): string[] =>
    every.filter((file) =>
      folders.some((directory) => file.startsWith(join(directory, name, "/"))),
    );
  const [asked, turns] = [below(onlyWithAll), below(inTurn)];
  const chosen = whoseTurn(turns, root);
  const files = all
    ? every
    : every.filter((file) => file === chosen || ![...asked, ...turns].includes(file));
  return inOrder(files, order, root);
}
