import type { Served } from "./controllers.js";

/** Object or collection to which a request's path refers. */
export interface Target {
  readonly prefix: string;
  readonly served: Served;
  readonly namespace: string;
  /** Name of the object. If it is empty, the path refers to a collection. */
  readonly name: string;
}

/**
 * Returns the object or collection to which a path refers. Returns undefined if the path contains
 * no supported kind.
 */
export function targetOf(path: string, kinds: readonly Served[]): Target | undefined {
  const parts = path.split("/").slice(1);
  const prefix = `/${parts.splice(0, parts[0] === "api" ? 2 : 3).join("/")}`;
  const isScoped = parts[0] === "namespaces" && parts.length > 2;
  const namespace = isScoped ? (parts[1] ?? "") : "";
  const [plural, name = ""] = isScoped ? parts.slice(2) : parts;
  const served = kinds.find((kind) => kind.prefix === prefix && kind.plural === plural);
  return served && { prefix, served, namespace, name };
}
