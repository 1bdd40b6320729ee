import { createHash, randomUUID } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { Failure } from "../../base/failure.js";

/*
 * A backup is a directory. Its description is written last, and the directory gets its name only then: what was broken off is never
 * taken for a backup.
 */

const descriptionFile = "backup.json";

const keptFile = z.object({
  /** In the same directory. */
  file: z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/),
  bytes: z.number(),
  sha256: z.string(),
});
export type KeptFile = z.infer<typeof keptFile>;

const descriptionSchema = z.object({
  format: z.literal(1),
  /** ISO 8601. */
  takenAt: z.iso.datetime(),
  stack: z.string(),
  /** The cluster's name in the cloud. */
  cluster: z.string(),
  /** Of the clusters that the stack holds; none of one that an early release made. */
  identities: z.array(z.string()),
  /** Of Kubernetes. Absent of a cluster that an early release made. */
  kubernetesVersion: z.string().optional(),
  /** etcd's data, the member that gave them, and whether it went on with a majority: else others may have had more. */
  snapshot: keptFile.extend({ machine: z.string(), majority: z.boolean() }),
  /** The files of a control plane and, where etcd has machines of its own, of one of these. */
  archives: z.array(keptFile.extend({ machine: z.string() })),
  /** The stack's state; its secrets stay encrypted. */
  state: keptFile,
});
export type BackupDescription = z.infer<typeof descriptionSchema>;

/** A backup that is there. */
export interface Backup extends BackupDescription {
  readonly directory: string;
}

/** What a name ends with that is not a backup yet. */
const growing = /\.[0-9a-f]{8}\.part$/;
const day = 24 * 60 * 60_000;

/** What runs left beside a backup that were killed, at a time in milliseconds since 1970: what one is at work on is younger. */
export function brokenOffBeside(to: string, now: number): string[] {
  const place = dirname(resolve(to));
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .filter((name) => growing.test(name))
    .map((name) => join(place, name))
    .filter((path) => now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > day);
}

/** What was written into a file, or of names into a directory, is on the disk. */
async function settled(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A directory that becomes a backup. */
export class NewBackup {
  readonly directory: string;
  readonly #growing: string;

  /** Fails where something of that name is. */
  constructor(to: string) {
    this.directory = resolve(to);
    if (existsSync(this.directory))
      throw new Failure(
        "INVALID_USAGE",
        `--to: '${to}' is there already; a backup begins with a directory of its own.`,
        "Name another one.",
      );
    mkdirSync(dirname(this.directory), { recursive: true });
    this.#growing = `${this.directory}.${randomUUID().slice(0, 8)}.part`;
    mkdirSync(this.#growing, { mode: 0o700 });
    // It may stand in a project, whose repository is no place for a cluster's keys.
    writeFileSync(join(this.#growing, ".gitignore"), "*\n");
  }

  /** Fills a file that only its owner reads. */
  async write(file: string, fill: (into: Writable) => Promise<void>): Promise<KeptFile> {
    const path = join(this.#growing, file);
    const into = createWriteStream(path, { mode: 0o600 });
    try {
      await once(into, "open");
      await fill(into);
    } finally {
      into.destroy();
    }
    await settled(path);
    return { file, ...(await measured(path)) };
  }

  /** Whoever sees the directory by its name has all of it, also after the power went. */
  async end(description: Omit<BackupDescription, "format">): Promise<Backup> {
    const whole = { format: 1, ...description } as const;
    await this.write(descriptionFile, async (into) => {
      await pipeline(Readable.from([`${JSON.stringify(whole, undefined, 2)}\n`]), into);
    });
    await settled(this.#growing);
    renameSync(this.#growing, this.directory);
    await settled(dirname(this.directory));
    return { ...whole, directory: this.directory };
  }

  /** A file that did not become whole is none of it. */
  forget(file: string): void {
    rmSync(this.path(file), { force: true });
  }

  /** Nothing is left of one that did not become whole. */
  drop(): void {
    rmSync(this.#growing, { recursive: true, force: true });
  }

  path(file: string): string {
    return join(this.#growing, file);
  }
}

async function measured(path: string): Promise<Pick<KeptFile, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { bytes: statSync(path).size, sha256: hash.digest("hex") };
}

const digestBytes = 32;
/** etcd writes pages of no other size, and the digest behind them. */
const pageBytes = 512;

/** Whether a snapshot is one of etcd's and came whole: its end is the SHA-256 of all before. */
export async function isWholeSnapshot(path: string): Promise<boolean> {
  const { size } = statSync(path);
  const end = size - digestBytes;
  if (end <= 0 || end % pageBytes !== 0) return false;
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { end: end - 1 }), hash);
  const handle = await open(path);
  try {
    const { buffer } = await handle.read(Buffer.alloc(digestBytes), 0, digestBytes, end);
    return buffer.equals(hash.digest());
  } finally {
    await handle.close();
  }
}

const broken = (directory: string, why: string): Failure =>
  new Failure(
    "INVALID_USAGE",
    `--from: ${directory} is no backup that can be used: ${why}.`,
    "Name a directory that `npx stackadm backup` made.",
  );

function describedIn(directory: string): BackupDescription {
  const path = join(directory, descriptionFile);
  if (!existsSync(path)) throw broken(directory, `it has no ${descriptionFile}`);
  let parsed;
  try {
    parsed = descriptionSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw broken(directory, `${descriptionFile} is no JSON`);
  }
  if (parsed.success) return parsed.data;
  const [problem] = parsed.error.issues;
  throw broken(
    directory,
    `${descriptionFile}: ${problem?.path.join(".") ?? ""}: ${problem?.message ?? "unknown"}`,
  );
}

/** Reads a backup; every file in it is as it was when it was taken. */
export async function readBackup(from: string): Promise<Backup> {
  const directory = resolve(from);
  const description = describedIn(directory);
  const { snapshot, archives, state } = description;
  for (const { file, bytes, sha256 } of [snapshot, ...archives, state]) {
    const path = join(directory, file);
    if (!existsSync(path)) throw broken(directory, `${file} is missing`);
    const now = await measured(path);
    if (now.bytes !== bytes || now.sha256 !== sha256)
      throw broken(directory, `${file} is not what was written`);
  }
  return { ...description, directory };
}
