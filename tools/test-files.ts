import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { changedFiles, commitCount } from "./changed-files.js";

/** Of its files, a tier runs those in here only when it is asked for all. */
const onlyWithAll = "all";
/** And of those in here one, as long as it is not asked for all. */
const inTurn = "in-turn";

interface Choice {
  /** The repository. */
  readonly root: string;
  /** Whether those count that only run with all. */
  readonly all: boolean;
  readonly largestFirst: boolean;
}

/** The one that was changed most of late; else each commit brings another one's turn. */
function whoseTurn(files: readonly string[], root: string): string | undefined {
  const changed = changedFiles(root);
  const count = (file: string): number =>
    changed.filter((one) => one === relative(root, file)).length;
  const first = commitCount(root) % files.length;
  const turns = [...files.slice(first), ...files.slice(0, first)];
  return turns.toSorted((one, other) => count(other) - count(one))[0];
}

/** The test files of a tier: in the order of their paths, or the largest first, so that none is left alone at the end. */
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
