import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface WriteOptions {
  /** Permissions of the file from the first byte on, even if it exists. Default: 0o644. */
  readonly mode?: number;
  /** Permissions of folders that are created. Default: 0o755. */
  readonly folderMode?: number;
}

/** Writes a temporary file in the target's folder, which `place` then moves into place. */
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

/**
 * Replaces a file atomically: readers find the old or the new text, even if this process is
 * stopped.
 */
export function writeWhole(file: string, content: string, options: WriteOptions = {}): void {
  writeAside(file, content, options, (aside) => {
    renameSync(aside, file);
  });
}

const onlyForItsOwner = { mode: 0o600, folderMode: 0o700 };

/** Replaces a file atomically, readable only by its owner. */
export const writePrivate = (file: string, content: string): void => {
  writeWhole(file, content, onlyForItsOwner);
};

/**
 * Creates a file atomically, readable only by its owner. Returns false, and changes nothing, if it
 * exists.
 */
export const writeNew = (file: string, content: string): boolean =>
  writeAside(file, content, onlyForItsOwner, (aside) => linkNew(aside, file));

/**
 * Creates `file` as a hard link to `source`; returns false if it exists. The content appears
 * complete, and of several processes exactly one succeeds.
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
