import type { Served } from "./controllers.js";

/** Object or collection that a request names. */
export interface Target {
  readonly prefix: string;
  readonly served: Served;
  readonly namespace: string;
  /** Name of the object; empty for a collection. */
  readonly name: string;
}

/** Returns what a path names; undefined if no served kind has it. */
export function targetOf(path: string, kinds: readonly Served[]): Target | undefined {
  const parts = path.split("/").slice(1);
  const prefix = `/${parts.splice(0, parts[0] === "api" ? 2 : 3).join("/")}`;
  const isScoped = parts[0] === "namespaces" && parts.length > 2;
  const namespace = isScoped ? (parts[1] ?? "") : "";
  const [plural, name = ""] = isScoped ? parts.slice(2) : parts;
  const served = kinds.find((kind) => kind.prefix === prefix && kind.plural === plural);
  return served && { prefix, served, namespace, name };
}
