import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { changedFiles, commitCount } from "./changed-files.js";

/** Folder of test files that run only with `--all`. */
const onlyWithAll = "all";
/** Folder of test files of which one runs; with `--all`, all of them run. */
const inTurn = "in-turn";

interface Choice {
  /** Directory of the repository. */
  readonly root: string;
  /** Whether to include files that run only with `--all`. */
  readonly all: boolean;
  readonly largestFirst: boolean;
}

/**
 * Returns the file that recent commits changed most. Without such a file, each commit selects the
 * next one.
 */
function whoseTurn(files: readonly string[], root: string): string | undefined {
  const changed = changedFiles(root);
  const count = (file: string): number =>
    changed.filter((one) => one === relative(root, file)).length;
  const first = commitCount(root) % files.length;
  const turns = [...files.slice(first), ...files.slice(0, first)];
  return turns.toSorted((one, other) => count(other) - count(one))[0];
}

/**
 * Returns a tier's test files by path, or the largest first, so that no large file runs alone at
 * the end.
 */
export function testFiles(tier: string, { root, all, largestFirst }: Choice): string[] {
  const directory = join(root, "test", tier);
  if (!existsSync(directory)) return [];
  const every = readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const below = (folder: string): string[] =>
    every.filter((file) => file.startsWith(join(directory, folder, "/")));
  const [asked, turns] = [below(onlyWithAll), below(inTurn)];
  const chosen = whoseTurn(turns, root);
  const files = all
    ? every
    : every.filter((file) => file === chosen || ![...asked, ...turns].includes(file));
  const size = (file: string): number => statSync(file).size;
  return largestFirst ? files.sort((one, other) => size(other) - size(one)) : files;
}
