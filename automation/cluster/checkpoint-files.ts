import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { backendDirectory } from "../setup/backend.js";

/** Whose checkpoint, and in which backend. */
export interface CheckpointPlace {
  readonly backend: string;
  readonly project: string;
  readonly stack: string;
}

/** The files of a stack's checkpoint in a backend that is a directory; none elsewhere. */
function filesOf({ backend, project, stack }: CheckpointPlace): string[] {
  const root = backendDirectory(backend);
  if (root === undefined) return [];
  const directory = join(root, ".pulumi", "stacks", project);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.startsWith(`${stack}.json`))
    .map((name) => join(directory, name));
}

/** Attributes that an engine emptied and did not write: it reads no checkpoint beside them. */
const emptyAmong = (files: readonly string[]): string[] =>
  files
    .filter((file) => file.endsWith(".attrs"))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.size === 0);

/** The formats of a checkpoint that are read here. */
const checkpointSchema = z.strictObject({
  version: z.union([z.literal(3), z.literal(4)]),
  features: z.array(z.string()).optional(),
  checkpoint: z.object({ latest: z.record(z.string(), z.unknown()) }),
});

/**
 * What `pulumi stack export` prints, read from the file in which the engine keeps it: every command begins with that, and it takes no
 * process. The engine puts a whole file in the place of the one before. Undefined where it is not as simple: in another backend or
 * layout, a packed file, another format, no such stack, or one that the engine itself could not read.
 */
export function readCheckpoint(
  place: CheckpointPlace,
): { readonly version: number; readonly deployment: Record<string, unknown> } | undefined {
  const files = filesOf(place);
  const file = files.find((one) => one.endsWith(`/${place.stack}.json`));
  const packed = files.some((one) => one.endsWith(`/${place.stack}.json.gz`));
  if (file === undefined || packed || emptyAmong(files).length > 0) return undefined;
  try {
    const { checkpoint, ...format } = checkpointSchema.parse(
      JSON.parse(readFileSync(file, "utf8")),
    );
    return { ...format, deployment: checkpoint.latest };
  } catch {
    return undefined;
  }
}

/**
 * Removes the empty files of attributes beside a stack's checkpoint in a file backend; answers how many there were. The engine
 * replaces the checkpoint at once, but empties its attributes before it writes them: one that is killed in between leaves a
 * checkpoint that is whole and that nobody can read. A checkpoint needs no attributes.
 */
export function dropEmptyAttributes(place: CheckpointPlace): number {
  const empty = emptyAmong(filesOf(place));
  for (const file of empty) rmSync(file, { force: true });
  return empty.length;
}
