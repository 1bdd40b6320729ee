import { accessSync, constants, statSync } from "node:fs";
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

function refuse(backend: string, why: string, what = `Correct it: ${example}.`): never {
  throw new UserError(`PULUMI_BACKEND_URL: '${withoutPassword(backend)}' ${why}.`, what, 2);
}

/** The directory of a `file://` backend; undefined for any other. */
export function backendDirectory(backend: string): string | undefined {
  if (!backend.startsWith("file://")) return undefined;
  const [plain = ""] = backend.split("?");
  const url = plain.replace(/^file:\/\/~/, `file://${process.env["HOME"] ?? ""}`);
  if (!url.startsWith("file:///"))
    return refuse(
      backend,
      "names no directory from the root or from ~, and operations run in directories of their own",
    );
  return resolve(fileURLToPath(url));
}

/** Is it there, and may we write into it? With `create_dir=true` the engine makes it. */
function requireDirectory(backend: string, directory: string): void {
  const query = new URLSearchParams(backend.split("?")[1]);
  const found = statSync(directory, { throwIfNoEntry: false });
  if (!found) {
    if (query.get("create_dir") === "true") return;
    refuse(backend, `is no backend: there is no ${directory}`, `Make it: mkdir -p ${directory}.`);
  }
  if (!found.isDirectory()) refuse(backend, `is no backend: ${directory} is no directory`);
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch {
    refuse(backend, `is no backend: you may not write into ${directory}`);
  }
}

/** A host or bucket; of a database a socket's directory, too. */
const namesPlace = (backend: string): boolean => {
  if (!URL.canParse(backend)) return false;
  const { hostname, searchParams } = new URL(backend);
  return hostname !== "" || searchParams.has("host");
};

/** Refuses what can be no backend. */
export function requireBackend(backend: string): string {
  const [, kind = ""] = /^([a-z][a-z0-9+.-]*):\/\//.exec(backend) ?? [];
  if (!kinds.includes(kind)) refuse(backend, "is not the address of a backend");
  const directory = backendDirectory(backend);
  if (directory !== undefined) requireDirectory(backend, directory);
  else if (!namesPlace(backend)) refuse(backend, "names no bucket, database or host");
  return backend;
}
