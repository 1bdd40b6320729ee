import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { backendDirectory } from "./backend.js";

/** Location of a stack's checkpoint: backend, project and stack. */
export interface CheckpointPlace {
  readonly backend: string;
  readonly project: string;
  readonly stack: string;
}

/** Files of a stack's checkpoint, in a backend that is a directory. */
interface CheckpointFiles {
  /** Directory `.pulumi` of the backend. */
  readonly pulumi: string;
  readonly all: readonly string[];
}

function filesOf({ backend, project, stack }: CheckpointPlace): CheckpointFiles | undefined {
  const root = backendDirectory(backend);
  if (root === undefined) return undefined;
  const pulumi = join(root, ".pulumi");
  const directory = join(pulumi, "stacks", project);
  if (!existsSync(directory)) return undefined;
  const names = readdirSync(directory).filter((name) => name.startsWith(`${stack}.json`));
  return { pulumi, all: names.map((name) => join(directory, name)) };
}

/**
 * Returns whether the file is an empty attributes file (`.attrs`), as a killed engine may leave it.
 * The engine then refuses to read the checkpoint.
 */
const areEmptied = (file: string): boolean =>
  file.endsWith(".attrs") && statSync(file, { throwIfNoEntry: false })?.size === 0;

/**
 * Formats of a checkpoint that are read here: version 3, and version 4 with the features that this
 * program's states use.
 */
const checkpointSchema = z.strictObject({
  version: z.union([z.literal(3), z.literal(4)]),
  features: z.array(z.enum(["hooks", "replaceWith"])).optional(),
  checkpoint: z.object({ latest: z.record(z.string(), z.unknown()) }),
});

/**
 * Returns the stack's checkpoint file. Undefined if the engine might read another file instead, or
 * refuse to read this file.
 */
function soleFile({ pulumi, all }: CheckpointFiles, stack: string): string | undefined {
  // Layout 1 has a directory per project. A newer engine may keep changes in a journal.
  const layout = readFileSync(join(pulumi, "meta.yaml"), "utf8");
  if (!/^version: 1$/m.test(layout) || existsSync(join(pulumi, "journal"))) return undefined;
  const ends = (one: string, ending: string): boolean => one.endsWith(`/${stack}.json${ending}`);
  const counts = all.filter((one) => [".gz", ".zst"].some((ending) => ends(one, ending)));
  if (counts.length > 0 || all.some((one) => ends(one, ".attrs") && areEmptied(one)))
    return undefined;
  return all.find((one) => ends(one, ""));
}

/**
 * Returns the output of `pulumi stack export`, but reads it from the backend's file, because every
 * command needs the state, and a process takes longer. The engine replaces the file atomically.
 * Returns undefined if the file cannot be read safely: another kind of backend or layout, a
 * compressed file, another format, no such stack, or empty attributes.
 */
export function readCheckpoint(
  place: CheckpointPlace,
): { readonly version: number; readonly deployment: Record<string, unknown> } | undefined {
  try {
    const files = filesOf(place);
    const file = files && soleFile(files, place.stack);
    if (file === undefined) return undefined;
    const { checkpoint, ...format } = checkpointSchema.parse(
      JSON.parse(readFileSync(file, "utf8")),
    );
    return { ...format, deployment: checkpoint.latest };
  } catch {
    return undefined;
  }
}

/**
 * Removes the empty attributes files of a stack's checkpoint in a file backend, and returns their
 * number. The engine replaces a checkpoint atomically, but empties the attributes file before it
 * writes the new attributes: a kill in between leaves a complete checkpoint that the engine refuses
 * to read. A checkpoint needs no attributes.
 */
export function dropEmptyAttributes(place: CheckpointPlace): number {
  const empty = (filesOf(place)?.all ?? []).filter(areEmptied);
  for (const file of empty) rmSync(file, { force: true });
  return empty.length;
}
