import { diffResource } from "../../../../../stand-ins/kubernetes/operations/diff.js";
import type { ResourceDiff } from "../../../../../stand-ins/kubernetes/operations/diff.js";
import { merge } from "./field-sets.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Default values of the provider's options: a changed ConfigMap or Secret is replaced. */
export const immutable = { configMaps: false, secrets: false };

export interface Case {
  readonly kind: string;
  readonly apiVersion?: string;
  /** Old inputs, without the kind and the name. */
  readonly olds: JsonObject;
  readonly news: JsonObject;
  /** Changes to the old inputs that another client made on the server. */
  readonly live?: JsonObject;
  readonly ignoreChanges?: string[];
  readonly mutability?: typeof immutable;
}

/**
 * Returns the diff of the object `x` in the namespace `demo`. The live object is the old inputs
 * with the changes in `live`.
 */
export function diffOf(input: Case): ResourceDiff {
  const { kind, apiVersion = "v1" } = input;
  const identity = { apiVersion, kind, metadata: { name: "x", namespace: "demo" } };
  const olds = merge(identity, input.olds);
  const live = merge(olds, input.live ?? {});
  return diffResource({
    olds: { ...live, __inputs: olds, __initialApiVersion: apiVersion, __fieldManager: "m" },
    news: merge(identity, input.news),
    ignoreChanges: input.ignoreChanges ?? [],
    namespaced: true,
    mutability: input.mutability ?? immutable,
  });
}

/** Returns a map from each path to ADD, DELETE or UPDATE. A final `!` means a replacement. */
export const kindsOf = (diff: ResourceDiff): Record<string, string> =>
  Object.fromEntries(
    [...diff.changes].map(([path, change]) => [path, change.kind + (change.replaces ? "!" : "")]),
  );
