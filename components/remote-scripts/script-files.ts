import { readFileSync } from "node:fs";
// The place of the file has no influence on any resource.
// eslint-disable-next-line no-restricted-syntax
import { cacheDirectory } from "../../base/paths.js";
import { writePrivate } from "../../base/atomic-files.js";
import type { Bundle } from "./script-steps.js";

/**
 * Returns the path of a file on this machine with the text; the engine and the plugin read it. It is
 * in the user's cache, under a name by its content: it outlives this process, which may end before
 * a copy has read it, and runs at the same time share it.
 */
export function fileOf({ digest, text }: Bundle): string {
  const file = cacheDirectory("scripts", `${digest}.sh`);
  if (textOf(file) !== text) writePrivate(file, text);
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
