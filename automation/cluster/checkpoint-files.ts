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

/** Files of a stack's checkpoint, in a backend that is a directory. */
interface CheckpointFiles {
  /** Where the backend has its own. */
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

/** Attributes that an engine emptied and did not write: it reads nothing beside them. */
const areEmptied = (file: string): boolean =>
  file.endsWith(".attrs") && statSync(file, { throwIfNoEntry: false })?.size === 0;

/** The formats of a checkpoint that are read here, with what this program's states use of the newer one. */
const checkpointSchema = z.strictObject({
  version: z.union([z.literal(3), z.literal(4)]),
  features: z.array(z.enum(["hooks", "replaceWith"])).optional(),
  checkpoint: z.object({ latest: z.record(z.string(), z.unknown()) }),
});

/** The one file in which the engine keeps the stack; undefined where there may be another one that counts. */
function soleFile({ pulumi, all }: CheckpointFiles, stack: string): string | undefined {
  // Stacks that belong to projects; and no changes beside the checkpoint, which an engine may come to keep.
  const layout = readFileSync(join(pulumi, "meta.yaml"), "utf8");
  if (!/^version: 1$/m.test(layout) || existsSync(join(pulumi, "journal"))) return undefined;
  const ends = (one: string, ending: string): boolean => one.endsWith(`/${stack}.json${ending}`);
  const counts = all.filter((one) => [".gz", ".zst"].some((ending) => ends(one, ending)));
  if (counts.length > 0 || all.some((one) => ends(one, ".attrs") && areEmptied(one)))
    return undefined;
  return all.find((one) => ends(one, ""));
}

/**
 * What `pulumi stack export` prints, read from the file in which the engine keeps it: every command begins with that, and it takes no
 * process. The engine puts a whole file in the place of the one before. Undefined where it is not as simple: in another backend or
 * layout, a packed file, another format, no such stack, or one that the engine itself could not read.
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
 * Removes the empty files of attributes beside a stack's checkpoint in a file backend; answers how many there were. The engine
 * replaces the checkpoint at once, but empties its attributes before it writes them: one that is killed in between leaves a
 * checkpoint that is whole and that nobody can read. A checkpoint needs no attributes.
 */
export function dropEmptyAttributes(place: CheckpointPlace): number {
  const empty = (filesOf(place)?.all ?? []).filter(areEmptied);
  for (const file of empty) rmSync(file, { force: true });
  return empty.length;
}
