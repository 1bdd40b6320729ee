import { diffResource } from "../../../../../../toolchain/stand-ins/kubernetes/diff.js";
import type { ResourceDiff } from "../../../../../../toolchain/stand-ins/kubernetes/diff.js";
import { merge } from "./field-sets.js";
import type { JsonObject } from "../../../../../../toolchain/stand-ins/plugin/values.js";

/** The provider's default: a change of data replaces. */
export const immutable = { configMaps: false, secrets: false };

export interface Case {
  readonly kind: string;
  readonly apiVersion?: string;
  /** Old inputs beside kind and name. */
  readonly olds: JsonObject;
  readonly news: JsonObject;
  /** What the server made of the old inputs, where it differs. */
  readonly live?: JsonObject;
  readonly ignoreChanges?: string[];
  readonly mutability?: typeof immutable;
}

/** The diff of an object `demo/x` whose old inputs were written and then became `live`. */
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

/** By path: ADD, DELETE or UPDATE, with `!` when it replaces. */
export const kindsOf = (diff: ResourceDiff): Record<string, string> =>
  Object.fromEntries(
    [...diff.changes].map(([path, change]) => [path, change.kind + (change.replaces ? "!" : "")]),
  );
