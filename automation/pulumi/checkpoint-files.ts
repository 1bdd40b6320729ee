import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { backendDirectory } from "./backend.js";

/** Location of a stack's checkpoint: backend, project and stack. */
export interface CheckpointPlace {
  readonly backend: string;
  readonly project: string;
  readonly stack: string;
}

/** Returns the files of a stack's checkpoint, in a backend that is a directory. */
function checkpointFiles({ backend, project, stack }: CheckpointPlace): string[] {
  const root = backendDirectory(backend);
  if (root === undefined) return [];
  const directory = join(root, ".pulumi", "stacks", project);
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.startsWith(`${stack}.json`));
  return names.map((name) => join(directory, name));
}

/**
 * Returns whether the file is an empty attributes file (`.attrs`), as a killed engine may leave it.
 * The engine then refuses to read the checkpoint.
 */
const isEmptyAttributesFile = (file: string): boolean =>
  file.endsWith(".attrs") && statSync(file, { throwIfNoEntry: false })?.size === 0;

/**
 * Removes the empty attributes files of a stack's checkpoint in a file backend, and returns their
 * number. The engine replaces a checkpoint atomically, but empties the attributes file before it
 * writes the new attributes: a kill in between leaves a complete checkpoint that the engine refuses
 * to read. A checkpoint needs no attributes.
 */
export function dropEmptyAttributes(place: CheckpointPlace): number {
  const empty = checkpointFiles(place).filter(isEmptyAttributesFile);
  for (const file of empty) rmSync(file, { force: true });
  return empty.length;
}
