import { diffResource } from "../../../../../stand-ins/kubernetes/diff.js";
import type { ResourceDiff } from "../../../../../stand-ins/kubernetes/diff.js";
import { merge } from "./field-sets.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Provider's default: a change of data replaces the object. */
export const immutable = { configMaps: false, secrets: false };

export interface Case {
  readonly kind: string;
  readonly apiVersion?: string;
  /** Old inputs, without kind and name. */
  readonly olds: JsonObject;
  readonly news: JsonObject;
  /** Fields that the server changed in the old inputs. */
  readonly live?: JsonObject;
  readonly ignoreChanges?: string[];
  readonly mutability?: typeof immutable;
}

/** Returns the diff of an object `demo/x`, whose old inputs became `live` on the server. */
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

/** Returns ADD, DELETE or UPDATE by path, with `!` for a replacement. */
export const kindsOf = (diff: ResourceDiff): Record<string, string> =>
  Object.fromEntries(
    [...diff.changes].map(([path, change]) => [path, change.kind + (change.replaces ? "!" : "")]),
  );
