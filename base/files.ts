import { linkSync } from "node:fs";

/**
 * Makes `file` another name of `source`; false when it exists. What was written aside appears whole this way, and of
 * several processes that try at once exactly one succeeds.
 */
export function linkNew(source: string, file: string): boolean {
  try {
    linkSync(source, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
