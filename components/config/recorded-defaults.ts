import { isPlainObject, mergeDefaults, type PlainObject } from "../schema/merge-defaults.js";
import type { ClusterSpec } from "./cluster-spec.js";
import {
  kubeProxyModePath,
  loadBalancerProviderPath,
  versionFieldPath,
  type FrozenValuesByPath,
} from "./immutable-fields.js";

/*
 * A new release of this program may have other defaults. An existing cluster keeps the value of each
 * default below, because another value would change its machines or its load balancers. Other
 * defaults either change nothing in an existing cluster, or their change is refused.
 */

/** Paths of the settings whose values an existing cluster keeps if the settings are not written. */
const keptPaths: readonly string[] = [
  versionFieldPath,
  kubeProxyModePath,
  loadBalancerProviderPath,
];

/** Returns an object with the value at the path: `a.b` gives `{ a: { b: value } }`. */
const nest = (path: string, value: string): PlainObject =>
  path
    .split(".")
    .reduceRight<PlainObject | string>((inner, key) => ({ [key]: inner }), value) as PlainObject;

/**
 * Returns the arguments with the recorded values of settings that the arguments do not contain.
 *
 * @param args arguments of a cluster, with the site's defaults
 * @param recorded values in the cluster's state. Undefined: there is no cluster yet
 */
export const withRecordedDefaults = (
  args: unknown,
  recorded: FrozenValuesByPath | undefined,
): unknown =>
  keptPaths.reduce((merged, path) => {
    const value = recorded?.[path];
    return value === undefined ? merged : mergeDefaults(nest(path, value), merged);
  }, args);

const valueAt = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((inner, key) => (isPlainObject(inner) ? inner[key] : undefined), value);

/** Returns whether the specification differs from a recorded value that an existing cluster keeps. */
export const differsFromRecorded = (spec: ClusterSpec, recorded: FrozenValuesByPath): boolean =>
  keptPaths.some((path) => recorded[path] !== undefined && recorded[path] !== valueAt(spec, path));
