import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Stack } from "@pulumi/pulumi/automation";
import { z } from "zod";
import { Failure } from "../../base/failures/failure.js";
import { getSystemHome, parseBackendDirectory } from "./backend.js";

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

/** Address of Pulumi Cloud, to which an access token belongs if PULUMI_API names no other service. */
const pulumiCloudUrl = "https://api.pulumi.com";

const credentialsSchema = z.looseObject({
  /** URL of the selected backend. Absent or empty: the user is logged out. */
  current: z.string().optional(),
  /** Version of the encryption, if PULUMI_CREDENTIAL_STORE has encrypted the file. */
  $pulumiSecureStore: z.unknown().optional(),
});

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

/** Returns the path of the file in which `pulumi login` stores the selected backend. */
const credentialsPath = (env: NodeJS.ProcessEnv): string => {
  const named = [env["PULUMI_CREDENTIALS_PATH"], env["PULUMI_HOME"]].find(isSet);
  const directory = named ?? join(getSystemHome(), ".pulumi");
  return join(directory, "credentials.json");
};

/** Returns the content of the file with the credentials. Returns "" if the file does not exist. */
function readCredentialsFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw unknownLoginError(file, `cannot be read (${code})`);
  }
}

const unknownLoginError = (
  file: string,
  why: string,
  what = "Correct or delete the file, or set PULUMI_BACKEND_URL to the backend with the state.",
): Failure =>
  new Failure(
    "INVALID_USAGE",
    `${file} ${why}, so the backend that \`pulumi login\` selected is unknown.`,
    what,
  );

/** Backend in which the user is logged in. */
export interface Login {
  readonly url: string;
  /** Kind of the login. */
  readonly by: "pulumi login" | "PULUMI_ACCESS_TOKEN";
}

/**
 * Returns the backend that `pulumi login` selected. Without a login, PULUMI_ACCESS_TOKEN selects
 * Pulumi Cloud, or the service in PULUMI_API. Returns undefined if the user is not logged in. Throws
 * if the file with the login cannot be read.
 *
 * Reason: the backend must be known before Pulumi is installed, and before any request to a service.
 *
 * Public way: `pulumi whoami --json`, which asks the service.
 */
export function readLogin(env: NodeJS.ProcessEnv): Login | undefined {
  const file = credentialsPath(env);
  const text = readCredentialsFile(file);
  const { current, $pulumiSecureStore: encrypted } =
    text === "" ? {} : parseCredentials(file, text);
  if (encrypted !== undefined)
    throw unknownLoginError(
      file,
      "is encrypted",
      "Set PULUMI_BACKEND_URL to the backend that `pulumi whoami --verbose` prints.",
    );
  if (isSet(current)) return { url: current, by: "pulumi login" };
  if (!isSet(env["PULUMI_ACCESS_TOKEN"])) return undefined;
  const url = [env["PULUMI_API"]].find(isSet) ?? pulumiCloudUrl;
  return { url, by: "PULUMI_ACCESS_TOKEN" };
}

function parseCredentials(file: string, text: string): z.infer<typeof credentialsSchema> {
  try {
    return credentialsSchema.parse(JSON.parse(text));
  } catch {
    throw unknownLoginError(file, "is not the JSON object that `pulumi login` writes");
  }
}

const checkpointSchema = z.looseObject({
  checkpoint: z.looseObject({ latest: z.unknown().optional() }),
});

/**
 * Returns the newest deployment of a stack. Returns undefined if the backend is not a directory, or
 * if the directory does not have the stack. A checkpoint that cannot be read throws.
 *
 * Reason: a stack is searched in several directories, in milliseconds, and before an engine exists.
 *
 * Public way: `pulumi stack export`, which takes a second for each directory.
 */
export function readCheckpoint({ backend, project, stack }: StackPlace): unknown {
  const names = [`${stack}.json`, `${stack}.json.gz`];
  const file = engineFiles(backend, "stacks", project).find((one) => names.includes(basename(one)));
  if (file === undefined) return undefined;
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return checkpointSchema.parse(JSON.parse(text)).checkpoint.latest ?? {};
}

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
