import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
// This import is allowed here, because no resource depends on the path of the cache directory.
// eslint-disable-next-line no-restricted-syntax
import { getCachePath } from "../../base/paths.js";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { isMissingFileError, isSystemError } from "../../base/failures/expected-errors.js";
import type { ScriptBundle } from "./script-steps.js";

const day = 86_400_000;
/** Milliseconds without use after which a file is deleted. All runs are shorter. */
const longestUnused = 30 * day;

/**
 * Writes a text to a file on this machine and returns its path. The engine and the plugin read the
 * file. The file remains in the user's cache, because this process may end before the plugin has
 * read the file. The name of the file is a digest of its content, so several runs can use the file
 * at the same time.
 */
export function writeCachedFile({ digest, text }: ScriptBundle): string {
  const file = getCachePath("scripts", `${digest}.sh`);
  // The use is noted before the text is compared. Otherwise, another run could delete the file
  // after the comparison.
  const usedToday = noteUse(file);
  if (textOf(file) !== text) replacePrivateFile(file, text);
  if (!usedToday) deleteUnused(dirname(file));
  return file;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isMissingFileError(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the milliseconds since a file was written or used. Returns undefined if the file does not
 * exist.
 */
const ageOf = (file: string): number | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && Date.now() - found.mtimeMs;
};

/**
 * Notes the use of a file as its time of modification, at most once a day. Returns whether the use
 * of this day has already been noted.
 */
function noteUse(file: string): boolean {
  const age = ageOf(file);
  if (age !== undefined && age < day) return true;
  try {
    const now = new Date();
    if (age !== undefined) utimesSync(file, now, now);
  } catch (error) {
    // Another run has deleted the file, or the cache is read-only.
    if (!isSystemError(error)) throw error;
  }
  return false;
}

/** Deletes files of other releases that have not been used for a long time. */
function deleteUnused(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if ((ageOf(file) ?? 0) > longestUnused) rmSync(file, { force: true });
    }
  } catch (error) {
    // Errors of the file system are ignored, because old files do no harm.
    if (!isSystemError(error)) throw error;
  }
}
