import { createHash } from "node:crypto";
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
  readonly order: Order;
}

/** Order of a tier's files; `largest first`: so that none is left alone at the end. */
export type Order = "by path" | "largest first" | { readonly seed: number };

/** Sorts files that are sorted by path. */
function inOrder(files: readonly string[], order: Order, root: string): string[] {
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

/** The one that was changed most of late; else each commit brings another one's turn. */
function whoseTurn(files: readonly string[], root: string): string | undefined {
  const changed = changedFiles(root);
  const count = (file: string): number =>
    changed.filter((one) => one === relative(root, file)).length;
  const first = commitCount(root) % files.length;
  const turns = [...files.slice(first), ...files.slice(0, first)];
  return turns.toSorted((one, other) => count(other) - count(one))[0];
}

/** Returns the test files of a tier. */
export function testFiles(tier: string, { root, all, order }: Choice): string[] {
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
  return inOrder(files, order, root);
}
