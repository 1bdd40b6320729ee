import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { backendDirectory } from "../setup/backend.js";

/**
 * Removes the empty files of attributes beside a stack's checkpoint in a file backend; answers how many there were. The engine
 * replaces the checkpoint at once, but empties its attributes before it writes them: one that is killed in between leaves a
 * checkpoint that is whole and that nobody can read. A checkpoint needs no attributes.
 */
export function dropEmptyAttributes(backend: string, project: string, stack: string): number {
  const root = backendDirectory(backend);
  if (root === undefined) return 0;
  const directory = join(root, ".pulumi", "stacks", project);
  if (!existsSync(directory)) return 0;
  const empty = readdirSync(directory)
    .filter((name) => name.startsWith(`${stack}.json`) && name.endsWith(".attrs"))
    .map((name) => join(directory, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.size === 0);
  for (const file of empty) rmSync(file, { force: true });
  return empty.length;
}
