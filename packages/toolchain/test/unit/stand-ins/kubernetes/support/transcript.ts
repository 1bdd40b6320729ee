import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Recorded call of the engine, with the answer of the official plugin. */
export interface Exchange {
  readonly method: string;
  readonly request: JsonObject;
  readonly response: JsonObject | null;
  readonly errors?: readonly string[];
}

const directory = join(__dirname, "../../../../fixtures/transcripts/kubernetes");

/** Returns the recorded calls of one method, from one run. */
export function exchanges(run: string, method: string): Exchange[] {
  return readFileSync(join(directory, `${run}.jsonl`), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Exchange)
    .filter((exchange) => exchange.method === method);
}

/**
 * Returns a copy in which the random digits of names are replaced, because they differ between
 * runs.
 */
export function settled(value: Json): Json {
  if (Array.isArray(value)) return value.map(settled);
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, settled(item)]));
  }
  return typeof value === "string"
    ? value.replace(/^(autonamed|pulumi-kubernetes)-[0-9a-f]{8}$/, "$1-<random>")
    : value;
}
