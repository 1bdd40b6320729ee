import { accessSync, constants, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutPassword } from "../../base/urls.js";
import { UserError } from "../../base/user-error.js";

/*
 * The addresses of Pulumi's backends. What is wrong with one is said before anything begins: the engine says it late, and not
 * in a sentence.
 */

const kinds = ["file", "s3", "gs", "azblob", "postgres", "http", "https"];
const example = "write one like file:///srv/stacks, s3://bucket or postgres://user@host/database";

/** The variable that names it, before all else. */
export const backendVariable = "PULUMI_BACKEND_URL";

interface Named {
  readonly backend: string;
  /** What names it. */
  readonly by: string;
}

function refuse({ backend, by }: Named, why: string, what = `Correct it: ${example}.`): never {
  throw new UserError(`${by}: '${withoutPassword(backend)}' ${why}.`, what, 2);
}

/** What the engine takes for ~: the home that this user has on this machine, whatever HOME says. */
function home(): string {
  try {
    return userInfo().homedir;
  } catch {
    return homedir();
  }
}

/** The directory of a `file://` backend; undefined for any other. */
export function backendDirectory(backend: string, by = backendVariable): string | undefined {
  if (!backend.startsWith("file://")) return undefined;
  const [plain = ""] = backend.split("?");
  const url = plain.replace(/^file:\/\/~(?=\/|$)/, `file://${home()}`);
  if (!url.startsWith("file:///"))
    return refuse(
      { backend, by },
      "names no directory from the root or from ~, and operations run in directories of their own",
    );
  return resolve(fileURLToPath(url));
}

/** Arguments that lead the engine to other files in it than these commands look at. */
const leading = ["prefix", "key"];

/** Is it there, and may we write into it? With `create_dir=true` the engine makes it. */
function requireDirectory(named: Named, directory: string): void {
  const query = new URLSearchParams(named.backend.split("?")[1]);
  const [led] = leading.filter((one) => query.has(one));
  if (led !== undefined)
    refuse(
      named,
      `has '${led}', which these commands do not follow`,
      "Name the directory itself in its place.",
    );
  const found = statSync(directory, { throwIfNoEntry: false });
  if (!found) {
    if (query.get("create_dir") === "true") return;
    refuse(named, `is no backend: there is no ${directory}`, `Make it: mkdir -p ${directory}.`);
  }
  if (!found.isDirectory()) refuse(named, `is no backend: ${directory} is no directory`);
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch {
    refuse(named, `is no backend: you may not write into ${directory}`);
  }
}

/** A host or bucket; of a database a socket's directory, too. */
const namesPlace = (backend: string): boolean => {
  if (!URL.canParse(backend)) return false;
  const { hostname, searchParams } = new URL(backend);
  return hostname !== "" || searchParams.has("host");
};

/** Refuses what can be no backend. */
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
 * The environment of an engine that changes a state. In a directory the engine keeps a file of attributes beside each file, with a
 * hash of a state that it writes hundreds of times: nobody reads it, and one that was begun hides the state from everybody.
 */
export function withoutAttributes(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { [backendVariable]: backend = "" } = env;
  if (!backend.startsWith("file://") || /[?&]metadata=/.test(backend)) return env;
  const more = backend.includes("?") ? "&" : "?";
  return { ...env, [backendVariable]: `${backend}${more}metadata=skip` };
}
