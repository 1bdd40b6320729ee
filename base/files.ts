import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface WriteOptions {
  /** Permissions from the first byte on, also where the file was there. Default: 0o644. */
  readonly mode?: number;
  /** Permissions of folders that are made for it. Default: 0o755. */
  readonly folderMode?: number;
}

/** Writes a file beside where it belongs, which `place` then puts there. */
function writeAside<T>(
  file: string,
  content: string,
  { mode = 0o644, folderMode = 0o755 }: WriteOptions,
  place: (aside: string) => T,
): T {
  mkdirSync(dirname(file), { recursive: true, mode: folderMode });
  const aside = `${file}.${process.pid}.part`;
  try {
    writeFileSync(aside, content, { mode });
    return place(aside);
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Replaces a file as a whole: whoever reads it, and whenever this is stopped, finds the earlier text or the new one. */
export function writeWhole(file: string, content: string, options: WriteOptions = {}): void {
  writeAside(file, content, options, (aside) => {
    renameSync(aside, file);
  });
}

const onlyForItsOwner = { mode: 0o600, folderMode: 0o700 };

/** The same, only for its owner. */
export const writePrivate = (file: string, content: string): void => {
  writeWhole(file, content, onlyForItsOwner);
};

/** Makes a file as a whole where there is none, only for its owner; false when there is one, which stays. */
export const writeNew = (file: string, content: string): boolean =>
  writeAside(file, content, onlyForItsOwner, (aside) => linkNew(aside, file));

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
