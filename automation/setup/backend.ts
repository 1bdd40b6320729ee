import { accessSync, constants, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutPassword } from "../../base/urls.js";
import { UserError } from "../../base/user-error.js";

/*
 * Checks the addresses of Pulumi's backends before anything starts: the engine reports a wrong one
 * late and less clearly.
 */

const kinds = ["file", "s3", "gs", "azblob", "postgres", "http", "https"];
const example = "write one like file:///srv/stacks, s3://bucket or postgres://user@host/database";

/** Variable with the backend's URL; it overrides all other settings. */
export const backendVariable = "PULUMI_BACKEND_URL";

interface Named {
  readonly backend: string;
  /** Name of the setting. */
  readonly by: string;
}

function refuse({ backend, by }: Named, why: string, what = `Correct it: ${example}.`): never {
  throw new UserError(`${by}: '${withoutPassword(backend)}' ${why}.`, what, 2);
}

/**
 * Returns what the engine uses for `~`: this user's home on this machine, whatever HOME contains.
 */
function home(): string {
  try {
    return userInfo().homedir;
  } catch {
    return homedir();
  }
}

/** Returns the directory of a `file://` backend; undefined for any other. */
export function backendDirectory(backend: string, by = backendVariable): string | undefined {
  if (!backend.startsWith("file://")) return undefined;
  const [plain = ""] = backend.split("?");
  const url = plain.replace(/^file:\/\/~(?=\/|$)/, `file://${home()}`);
  if (!url.startsWith("file:///"))
    return refuse(
      { backend, by },
      "must name an absolute directory (from / or ~), because operations run in other directories",
    );
  return resolve(fileURLToPath(url));
}

/** Arguments that make the engine use other files in the directory than these commands read. */
const leading = ["prefix", "key"];

/**
 * Throws unless the directory exists and is writable. With `create_dir=true` the engine creates it.
 */
function requireDirectory(named: Named, directory: string): void {
  const query = new URLSearchParams(named.backend.split("?")[1]);
  const [led] = leading.filter((one) => query.has(one));
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

/** Returns whether the URL has a host or a bucket; for a database, a socket's directory counts. */
const namesPlace = (backend: string): boolean => {
  if (!URL.canParse(backend)) return false;
  const { hostname, searchParams } = new URL(backend);
  return hostname !== "" || searchParams.has("host");
};

/** Throws if the URL cannot be a backend; returns it. */
export function requireBackend(backend: string, by = backendVariable): string {
  const named = { backend, by };
  const [, kind = ""] = /^([a-z][a-z0-9+.-]*):\/\//.exec(backend) ?? [];
  if (!kinds.includes(kind)) refuse(named, "is not the address of a backend");
  const directory = backendDirectory(backend, by);
  if (directory !== undefined) requireDirectory(named, directory);
  else if (!namesPlace(backend)) refuse(named, "names no bucket, database or host");
  return backend;
}

/**
 * Returns the environment for an engine that changes a state. In a directory the engine keeps an
 * attributes file next to each file, with a hash, and writes it hundreds of times. Nothing reads
 * these files, and a half-written one makes the state unreadable.
 */
export function withoutAttributes(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { [backendVariable]: backend = "" } = env;
  if (!backend.startsWith("file://") || /[?&]metadata=/.test(backend)) return env;
  const more = backend.includes("?") ? "&" : "?";
  return { ...env, [backendVariable]: `${backend}${more}metadata=skip` };
}
