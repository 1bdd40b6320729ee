import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
// The place of the file has no influence on any resource.
// eslint-disable-next-line no-restricted-syntax
import { cacheDirectory } from "../../base/paths.js";
import { replacePrivateFile } from "../../base/atomic-files.js";
import type { Bundle } from "./script-steps.js";

const day = 86_400_000;
/** Milliseconds without use after which a file is deleted. No run takes that long. */
const longestUnused = 30 * day;

/**
 * Returns the path of a file on this machine with the text; the engine and the plugin read it. It
 * is in the user's cache, under a name by its content: it outlives this process, which may end
 * before a copy has read it, and runs at the same time share it.
 */
export function fileOf({ digest, text }: Bundle): string {
  const file = cacheDirectory("scripts", `${digest}.sh`);
  // Noted before the text is compared, so that another run does not delete the file afterwards.
  const usedToday = noteUse(file);
  if (textOf(file) !== text) replacePrivateFile(file, text);
  if (!usedToday) deleteUnused(dirname(file));
  return file;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Milliseconds since a file was written or used; undefined if there is no such file. */
const ageOf = (file: string): number | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && Date.now() - found.mtimeMs;
};

/**
 * Sets the file's time of modification, at most once a day. Returns whether a run already noted a
 * use within the last day.
 */
function noteUse(file: string): boolean {
  const age = ageOf(file);
  if (age !== undefined && age < day) return true;
  try {
    const now = new Date();
    if (age !== undefined) utimesSync(file, now, now);
  } catch {
    // The file was deleted just now, or the cache is read-only.
  }
  return false;
}

/** Deletes the files of other releases that no run used for a long time. */
function deleteUnused(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if ((ageOf(file) ?? 0) > longestUnused) rmSync(file, { force: true });
    }
  } catch {
    // A cache that cannot be tidied is no reason to fail.
  }
}
