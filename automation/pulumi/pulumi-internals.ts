import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Stack } from "@pulumi/pulumi/automation";
import { parseBackendDirectory } from "./backend.js";

/*
 * Contains everything in `automation/` that depends on private parts of Pulumi: of the Node SDK,
 * the engine, or the bridge in the OpenStack plugin. Each comment gives the reason, and the public
 * way that the code replaces. Tests with the same name in test/unit and test/engine check that
 * Pulumi still works like this. `npm run test:newest` runs these tests with the newest SDK and
 * engine. The program has its own file of this kind: components/pulumi/pulumi-internals.ts. See
 * docs/decisions/0038-pulumi-internals.md.
 */

/**
 * Makes `stack.up` run a preview before the update.
 *
 * Reason: no command takes only the backend's lock. The engine takes the lock before the preview. A
 * program that fails in the preview leaves state, pending operations and history unchanged.
 *
 * Public way: none. The SDK always passes `--skip-preview`, but a workspace can add arguments. If
 * an option occurs twice, the engine uses the last value.
 */
export function enablePreviewBeforeUpdate({ workspace }: Pick<Stack, "workspace">): void {
  workspace.serializeArgsForOp = () => Promise.resolve(["--skip-preview=false"]);
}

/**
 * Makes the stack's operations return neither outputs nor the history entry.
 *
 * Reason: callers read outputs and history themselves when they need them. The SDK would start
 * three processes for this purpose after each `up`, one after another, and one process after
 * `refresh` and `destroy`. With a state of 120 resources, these processes took 0.4 s and 0.13 s of
 * CPU time.
 *
 * Public way: discard the result.
 */
export function disableOperationResults(stack: Pick<Stack, "info" | "outputs">): void {
  stack.info = () => Promise.resolve(undefined);
  stack.outputs = () => Promise.resolve({});
}

export interface StackPlace {
  readonly backend: string;
  readonly project: string;
  readonly stack: string;
}

/**
 * Returns the paths of the files in a folder of the engine's directory. Returns an empty list if
 * the backend is not a directory.
 */
function engineFiles(backend: string, ...folder: readonly string[]): string[] {
  const root = parseBackendDirectory(backend);
  if (root === undefined) return [];
  const directory = join(root, ".pulumi", ...folder);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).map((name) => join(directory, name));
}

/**
 * Matches the engine's error about a stack that another operation holds.
 *
 * Reason: commands that write a state run without the SDK, and must recognise this error.
 *
 * Public way: the SDK throws ConcurrentUpdateError, which is derived from the same texts.
 */
export const lockedStackPattern =
  /the stack is currently locked|\[409\] Conflict: Another update is currently in progress/;

const attributesEnding = ".attrs";

/** Lock file of the engine. */
export interface LockFile {
  readonly file: string;
  /** Content: process, user, host and time. Undefined: the file is written only partly. */
  readonly content: unknown;
}

/**
 * Returns the locks on one stack. Returns an empty list if the backend is not a directory.
 *
 * Reason: an operation has to refuse a locked stack before it deletes anything in the cloud. Also,
 * only the lock of a dead engine may be deleted, because another command may have taken a lock in
 * the meantime.
 *
 * Public way: for other backends, a command that needs the lock fails and names the holder.
 * `pulumi cancel` deletes all locks together.
 */
export const readLockFiles = ({ backend, project, stack }: StackPlace): LockFile[] =>
  engineFiles(backend, "locks", "organization", project, stack).flatMap((file): LockFile[] => {
    if (file.endsWith(attributesEnding)) return [];
    const content = readJson(file);
    // The file was deleted after the listing.
    return content === undefined && !existsSync(file) ? [] : [{ file, content }];
  });

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Deletes a lock file that {@link readLockFiles} returned. */
export function deleteLockFile(file: string): void {
  for (const path of [file, `${file}${attributesEnding}`]) rmSync(path, { force: true });
}

/**
 * Deletes the empty attributes files of a stack's checkpoint, and returns their number. Returns 0
 * if the backend is not a directory.
 *
 * Reason: the engine replaces a checkpoint atomically, but empties the attributes file before it
 * writes the new attributes. If the engine is killed in between, the next engine refuses to read
 * the checkpoint, although the checkpoint is complete. A checkpoint needs no attributes.
 *
 * Public way: none. The engines of this program write no attributes (`metadata=skip` in the
 * backend's URL), but the engines of `pulumi up` do.
 */
export function deleteEmptyAttributes({ backend, project, stack }: StackPlace): number {
  const empty = engineFiles(backend, "stacks", project).filter(
    (file) =>
      basename(file).startsWith(`${stack}.json`) &&
      file.endsWith(attributesEnding) &&
      statSync(file, { throwIfNoEntry: false })?.size === 0,
  );
  for (const file of empty) rmSync(file, { force: true });
  return empty.length;
}

/**
 * Name of the output in which the bridge of the OpenStack plugin records the types of the other
 * outputs.
 *
 * Reason: the policy of a server group is rewritten for another version of the plugin
 * (docs/decisions/0032-openstack-plugin.md). The record then no longer matches, so it is removed.
 * Without the record, the bridge derives the types from its schema.
 *
 * Public way: a refresh by the new plugin, which fails for server groups.
 */
export const rawStateDeltaKey = "__pulumi_raw_state_delta";

/**
 * Returns the plugin version in the name of a default provider. Returns "" for a name without a
 * version, and undefined for other providers.
 *
 * Reason: the state has no other record of the plugin version that wrote a resource.
 *
 * Public way: none. An explicit provider has the version in its inputs.
 *
 * @param reference reference to the provider in a resource of the state: `<URN>::<ID>`
 */
export function parseDefaultProviderVersion(reference: string): string | undefined {
  const [, version] = /::default((?:_\d+)*)::[^:]*$/.exec(reference) ?? [];
  return version?.slice(1).replaceAll("_", ".");
}
