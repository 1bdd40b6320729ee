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
import { Failure } from "../../base/failures/failure.js";

/*
 * A backup is a directory. `NewBackup` writes all files and the description under a temporary
 * directory name, and renames the directory last. An interrupted backup therefore never has the
 * final name of a complete backup.
 */

const descriptionFile = "backup.json";

const keptFile = z.object({
  /** Name of the file in the backup's directory. */
  file: z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/),
  bytes: z.number(),
  sha256: z.string(),
});
export type BackupFile = z.infer<typeof keptFile>;

const descriptionSchema = z.object({
  format: z.literal(1),
  /** Time of the backup, in ISO 8601. */
  takenAt: z.iso.datetime(),
  stack: z.string(),
  /** Name of the cluster in the cloud. */
  cluster: z.string(),
  /** Identities of the stack's clusters. */
  identities: z.array(z.string()),
  /** Version of Kubernetes. Absent if the stack has several clusters. */
  kubernetesVersion: z.string().optional(),
  /**
   * File with etcd's snapshot. `machine` is the machine of the etcd member that provided the
   * snapshot. `majority` is whether this member reached a majority of members. Without a majority,
   * other members may have newer data.
   */
  snapshot: keptFile.extend({ machine: z.string(), majority: z.boolean() }),
  /**
   * Archives with files of machines: one archive of a control plane and, if etcd runs on separate
   * machines, one archive of an etcd machine.
   */
  archives: z.array(keptFile.extend({ machine: z.string() })),
  /** State of the stack, with encrypted secrets. */
  state: keptFile,
});
export type BackupDescription = z.infer<typeof descriptionSchema>;

/** Complete backup in a directory. */
export interface Backup extends BackupDescription {
  readonly directory: string;
}

/** Pattern of the directory name of an unfinished backup. */
const unfinishedNamePattern = /\.[0-9a-f]{8}\.part$/;
const day = 24 * 60 * 60_000;

/**
 * Returns the unfinished backups in the parent directory of `to` that are more than a day old. An
 * unfinished backup of the last 24 hours may still be running.
 *
 * @param now milliseconds since 1970
 */
export function findUnfinishedBackups(to: string, now: number): string[] {
  const parentDirectory = dirname(resolve(to));
  if (!existsSync(parentDirectory)) return [];
  return readdirSync(parentDirectory)
    .filter((name) => unfinishedNamePattern.test(name))
    .map((name) => join(parentDirectory, name))
    .filter((path) => now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > day);
}

/** Waits until a file or a directory is on disk (fsync). */
async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Directory of a backup that is being written. */
export class NewBackup {
  readonly directory: string;
  readonly #growing: string;

  /** Creates the directory under a temporary name. Throws if `to` already exists. */
  constructor(to: string) {
    this.directory = resolve(to);
    if (existsSync(this.directory))
      throw new Failure(
        "INVALID_USAGE",
        `--to: '${to}' already exists; a backup needs a new directory.`,
        "Name another directory.",
      );
    mkdirSync(dirname(this.directory), { recursive: true });
    this.#growing = `${this.directory}.${randomUUID().slice(0, 8)}.part`;
    mkdirSync(this.#growing, { mode: 0o700 });
    // The directory may be in a Git repository, and the cluster's keys must not be committed.
    writeFileSync(join(this.#growing, ".gitignore"), "*\n");
  }

  /** Writes a file that only its owner can read. */
  async write(file: string, fill: (into: Writable) => Promise<void>): Promise<BackupFile> {
    const path = join(this.#growing, file);
    const into = createWriteStream(path, { mode: 0o600 });
    try {
      await once(into, "open");
      await fill(into);
    } finally {
      into.destroy();
    }
    await syncToDisk(path);
    return { file, ...(await measured(path)) };
  }

  /**
   * Completes the backup. Writes all files to the disk before the directory gets its final name. A
   * directory with its final name is therefore complete, even after a power failure.
   */
  async complete(description: Omit<BackupDescription, "format">): Promise<Backup> {
    const whole = { format: 1, ...description } as const;
    await this.write(descriptionFile, async (into) => {
      await pipeline(Readable.from([`${JSON.stringify(whole, undefined, 2)}\n`]), into);
    });
    await syncToDisk(this.#growing);
    renameSync(this.#growing, this.directory);
    await syncToDisk(dirname(this.directory));
    return { ...whole, directory: this.directory };
  }

  /** Deletes an incomplete file of the backup. */
  deleteFile(file: string): void {
    rmSync(this.path(file), { force: true });
  }

  /** Deletes the incomplete backup. */
  discard(): void {
    rmSync(this.#growing, { recursive: true, force: true });
  }

  path(file: string): string {
    return join(this.#growing, file);
  }
}

async function measured(path: string): Promise<Pick<BackupFile, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { bytes: statSync(path).size, sha256: hash.digest("hex") };
}

const digestBytes = 32;
/** Block size of etcd's database in bytes. A snapshot consists of complete blocks and a digest. */
const pageBytes = 512;

/**
 * Returns whether a snapshot of etcd is complete: its last 32 bytes must be the SHA-256 of all
 * bytes before them.
 */
export async function isCompleteSnapshot(path: string): Promise<boolean> {
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
    `--from: ${directory} cannot be used as a backup: ${why}.`,
    "Name a directory that `stackadm backup` made.",
  );

function describedIn(directory: string): BackupDescription {
  const path = join(directory, descriptionFile);
  if (!existsSync(path)) throw broken(directory, `it has no ${descriptionFile}`);
  const text = readFileSync(path, "utf8");
  let parsed;
  try {
    parsed = descriptionSchema.safeParse(JSON.parse(text));
  } catch {
    throw broken(directory, `${descriptionFile} is not JSON`);
  }
  if (parsed.success) return parsed.data;
  const [problem] = parsed.error.issues;
  throw broken(
    directory,
    `${descriptionFile}: ${problem?.path.join(".") ?? ""}: ${problem?.message ?? "unknown"}`,
  );
}

/**
 * Reads the description of a backup. Throws unless every file has the size and the digest that the
 * description states.
 */
export async function readBackup(from: string): Promise<Backup> {
  const directory = resolve(from);
  const description = describedIn(directory);
  const { snapshot, archives, state } = description;
  for (const { file, bytes, sha256 } of [snapshot, ...archives, state]) {
    const path = join(directory, file);
    if (!existsSync(path)) throw broken(directory, `${file} is missing`);
    const now = await measured(path);
    if (now.bytes !== bytes || now.sha256 !== sha256)
      throw broken(directory, `${file} differs from what the backup wrote`);
  }
  return { ...description, directory };
}
