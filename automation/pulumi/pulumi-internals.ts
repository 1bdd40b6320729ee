import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Stack } from "@pulumi/pulumi/automation";
import { backendDirectory } from "./backend.js";

/*
 * Everything in `automation/` that depends on a private part of Pulumi: of its Node SDK, of its
 * engine, or of the bridge in its OpenStack plugin. Each has the reason, and the public way that it
 * replaces. The tests of the same name in test/unit and test/engine check that Pulumi still works
 * in this way; `npm run test:newest` runs them with the newest SDK and engine. The program's own
 * such file is components/pulumi/pulumi-internals.ts. See docs/decisions/0038-pulumi-internals.md.
 */

/**
 * Makes `stack.up` preview before it updates.
 *
 * Reason: the engine takes the backend's lock before the preview, and a program that fails in the
 * preview leaves state, pending operations and history unchanged. No command only takes the lock.
 *
 * Public way: none. The SDK always passes `--skip-preview`, but lets a workspace add arguments, and
 * of two values of an option the engine uses the last one.
 */
export function previewBeforeUpdate({ workspace }: Pick<Stack, "workspace">): void {
  workspace.serializeArgsForOp = () => Promise.resolve(["--skip-preview=false"]);
}

/**
 * Makes the stack's operations return without outputs and without the entry of the history.
 *
 * Reason: callers read outputs and history themselves, and only where they need them. The SDK reads
 * them after each `up` with three processes, one after another, and after `refresh` and `destroy`
 * with one: 0.4 s and 0.13 s of CPU time, measured with a state of 120 resources.
 *
 * Public way: to discard the result.
 */
export function withoutResult(stack: Pick<Stack, "info" | "outputs">): void {
  stack.info = () => Promise.resolve(undefined);
  stack.outputs = () => Promise.resolve({});
}

/** Place of a stack: backend, project and stack. */
export interface StackPlace {
  readonly backend: string;
  readonly project: string;
  readonly stack: string;
}

/** Returns the files in a folder of the engine's directory in a backend that is a directory. */
function engineFiles(backend: string, ...folder: readonly string[]): string[] {
  const root = backendDirectory(backend);
  if (root === undefined) return [];
  const directory = join(root, ".pulumi", ...folder);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).map((name) => join(directory, name));
}

const attributesEnding = ".attrs";

/** File of a lock of the engine, with its content: the process, user and host, and the time. */
export interface LockFile {
  readonly file: string;
  /** Content. Undefined: half-written. */
  readonly content: unknown;
}

/**
 * Returns the locks on one stack. Empty for a backend that is no directory.
 *
 * Reason: an operation has to refuse a locked stack before it deletes anything in the cloud, and
 * the lock of a dead engine is deleted alone: another command may have taken a lock meanwhile.
 *
 * Public way: for other backends, a command that needs the lock names its holder when it fails, and
 * `pulumi cancel` deletes all locks together.
 */
export const lockFiles = ({ backend, project, stack }: StackPlace): LockFile[] =>
  engineFiles(backend, "locks", "organization", project, stack).flatMap((file): LockFile[] => {
    if (file.endsWith(attributesEnding)) return [];
    const content = readJson(file);
    // Deleted since it was listed.
    return content === undefined && !existsSync(file) ? [] : [{ file, content }];
  });

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Deletes a file of {@link lockFiles}. */
export function deleteLockFile(file: string): void {
  for (const path of [file, `${file}${attributesEnding}`]) rmSync(path, { force: true });
}

/**
 * Deletes the empty attributes files of a stack's checkpoint in a backend that is a directory, and
 * returns their number.
 *
 * Reason: the engine replaces a checkpoint atomically, but empties the attributes file before it
 * writes the new attributes. A kill in between leaves a complete checkpoint that the engine refuses
 * to read. A checkpoint needs no attributes.
 *
 * Public way: none. The engines of this program write no attributes (`metadata=skip` in the
 * backend's URL), but those of `pulumi up` do.
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
 * Output in which the bridge of the OpenStack plugin records the types of the other outputs.
 *
 * Reason: the record does not match any more when the policy of a server group is rewritten for
 * another version of the plugin (docs/decisions/0032-openstack-plugin.md). Without the record, the
 * bridge derives the types from its schema.
 *
 * Public way: a refresh by the new plugin, which fails for server groups.
 */
export const typesRecord = "__pulumi_raw_state_delta";

/**
 * Returns the plugin version in the name of a default provider; "" for a name without version.
 * Undefined for other providers.
 *
 * Reason: the state has no other record of the version that wrote a resource.
 *
 * Public way: none; an explicit provider has its version in its inputs.
 *
 * @param reference reference to the provider in a resource of the state: `<URN>::<ID>`
 */
export function defaultProviderVersion(reference: string): string | undefined {
  const [, version] = /::default((?:_\d+)*)::[^:]*$/.exec(reference) ?? [];
  return version?.slice(1).replaceAll("_", ".");
}
