import { accessSync, constants, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { removeUrlPassword } from "../../base/url-passwords.js";
import { isSystemError } from "../../base/failures/expected-errors.js";
import { Failure } from "../../base/failures/failure.js";

/*
 * Checks the URL of Pulumi's backend before any work. The engine would report a wrong URL later and
 * less clearly.
 */

const kinds = ["file", "s3", "gs", "azblob", "postgres", "http", "https"];
const example = "write one like file:///srv/stacks, s3://bucket or postgres://user@host/database";

/**
 * Name of the environment variable with the backend's URL. This variable overrides all other
 * settings.
 */
export const backendVariable = "PULUMI_BACKEND_URL";

interface Named {
  readonly backend: string;
  /** Name of the setting that contains the URL, for messages. */
  readonly by: string;
}

function refuse({ backend, by }: Named, why: string, what = `Correct it: ${example}.`): never {
  throw new Failure("INVALID_USAGE", `${by}: '${removeUrlPassword(backend)}' ${why}.`, what);
}

/**
 * Returns the directory that the engine uses for `~`: the user's home directory according to the
 * system. HOME may have another value.
 */
export function getSystemHome(): string {
  try {
    return userInfo().homedir;
  } catch (error) {
    if (isSystemError(error)) return homedir(); // the user has no entry in passwd
    throw error;
  }
}

/** Returns the directory of a `file://` backend, or undefined for other backends. */
export function parseBackendDirectory(backend: string, by = backendVariable): string | undefined {
  if (!backend.startsWith("file://")) return undefined;
  const [plain = ""] = backend.split("?");
  const url = plain.replace(/^file:\/\/~(?=\/|$)/, `file://${getSystemHome()}`);
  if (!url.startsWith("file:///"))
    return refuse(
      { backend, by },
      "must name an absolute directory (from / or ~), because operations run in other directories",
    );
  return resolve(fileURLToPath(url));
}

/**
 * Returns the same text for all spellings of one backend: with the directory resolved, and without
 * passwords. The name of a stack's private directory is derived from this text.
 */
export const normalizeBackend = (backend: string): string =>
  parseBackendDirectory(backend) ?? removeUrlPassword(backend);

/**
 * URL parameters that are refused. With these parameters, the engine would use other files than
 * these commands read.
 */
const refusedParameters = ["prefix", "key"];

/**
 * Throws unless the directory exists and is writable. With `create_dir=true` in the URL, the
 * directory need not exist, because the engine creates it.
 */
function requireDirectory(named: Named, directory: string): void {
  const query = new URLSearchParams(named.backend.split("?")[1]);
  const [led] = refusedParameters.filter((one) => query.has(one));
  if (led !== undefined)
    refuse(
      named,
      `has '${led}', which stackadm does not support`,
      "Name the directory itself instead.",
    );
  const found = statSync(directory, { throwIfNoEntry: false });
  if (!found) {
    if (query.get("create_dir") === "true") return;
    refuse(
      named,
      `cannot be used: ${directory} does not exist`,
      `Create it: mkdir -p ${directory}.`,
    );
  }
  if (!found.isDirectory()) refuse(named, `cannot be used: ${directory} is not a directory`);
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch {
    refuse(named, `cannot be used: you may not write into ${directory}`);
  }
}

/**
 * Returns whether the URL contains a host or a bucket. The URL of a database may have the directory
 * of a Unix socket (`host`) instead.
 */
const namesPlace = (backend: string): boolean => {
  if (!URL.canParse(backend)) return false;
  const { hostname, searchParams } = new URL(backend);
  return hostname !== "" || searchParams.has("host");
};

/** Returns the URL. Throws if the URL cannot belong to a backend. */
export function requireBackendUrl(backend: string, by = backendVariable): string {
  const named = { backend, by };
  const [, kind = ""] = /^([a-z][a-z0-9+.-]*):\/\//.exec(backend) ?? [];
  if (!kinds.includes(kind)) refuse(named, "is not the address of a backend");
  const directory = parseBackendDirectory(backend, by);
  if (directory !== undefined) requireDirectory(named, directory);
  else if (!namesPlace(backend)) refuse(named, "names no bucket, database or host");
  return backend;
}

/**
 * Returns the environment with the backend of a service. Throws INVALID_USAGE if the environment
 * names another backend: the engine would then use another state than the service.
 */
export function withBackend(env: NodeJS.ProcessEnv, backend: string): NodeJS.ProcessEnv {
  const named = env[backendVariable] ?? "";
  if (named !== "" && named !== backend)
    throw new Failure(
      "INVALID_USAGE",
      `${backendVariable} is '${removeUrlPassword(named)}', but the backend of the service is '${removeUrlPassword(backend)}'.`,
      `Leave ${backendVariable} out of the service's environment, or name the same backend twice.`,
    );
  return { ...env, [backendVariable]: backend };
}

/**
 * Returns the environment for an engine that changes a state. In a directory backend, the engine
 * writes a second file with attributes for each file, hundreds of times in a run. No program reads
 * these attributes files, and an incomplete attributes file makes the state unreadable. So
 * `metadata=skip` in the backend's URL disables attributes files.
 */
export function disableStateAttributes(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { [backendVariable]: backend = "" } = env;
  if (!backend.startsWith("file://") || /[?&]metadata=/.test(backend)) return env;
  const more = backend.includes("?") ? "&" : "?";
  return { ...env, [backendVariable]: `${backend}${more}metadata=skip` };
}
