import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface WriteOptions {
  /** Permissions of the file, also if the file replaces an existing file. Default: 0o644. */
  readonly mode?: number;
  /** Permissions of new folders. Default: 0o755. */
  readonly folderMode?: number;
}

/**
 * Writes the content to a temporary file in the folder of `file`. Then calls `moveIntoPlace`, which
 * moves or links the temporary file to `file`.
 */
function writeAside<T>(
  file: string,
  content: string,
  { mode = 0o644, folderMode = 0o755 }: WriteOptions,
  moveIntoPlace: (aside: string) => T,
): T {
  mkdirSync(dirname(file), { recursive: true, mode: folderMode });
  // Two containers that share the folder may have the same PID, so the name is random.
  const aside = `${file}.${randomUUID()}.part`;
  try {
    writeFileSync(aside, content, { mode });
    return moveIntoPlace(aside);
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Replaces a file atomically. Readers find either the old or the new content, even if this process
 * is killed.
 */
export function replaceFile(file: string, content: string, options: WriteOptions = {}): void {
  writeAside(file, content, options, (aside) => {
    renameSync(aside, file);
  });
}

const onlyForItsOwner = { mode: 0o600, folderMode: 0o700 };

/** Replaces a file atomically. Only the owner can read the new file. */
export const replacePrivateFile = (file: string, content: string): void => {
  replaceFile(file, content, onlyForItsOwner);
};

/**
 * Creates a file atomically. Only the owner can read the file. Returns false, and changes nothing,
 * if the file exists.
 */
export const createPrivateFile = (file: string, content: string): boolean =>
  writeAside(file, content, onlyForItsOwner, (aside) => createHardLink(aside, file));

/**
 * Creates `file` as a hard link to `source`. Returns false if `file` exists. If several processes
 * call this function at the same time, exactly one succeeds.
 */
export function createHardLink(source: string, file: string): boolean {
  try {
    linkSync(source, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
