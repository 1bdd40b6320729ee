import { parseClusterSpec, type SpecResult } from "./spec/cluster-spec.js";
import { manifestProblems } from "./pod-network/manifest-check.js";

/**
 * A cluster's specification, and with it the files that it names: whoever makes a cluster asks before anything is begun.
 *
 * @param directory against which relative paths count
 */
export function checkClusterSpec(args: unknown, directory?: string): SpecResult {
  const result = parseClusterSpec(args);
  const problems = "spec" in result ? manifestProblems(result.spec, directory) : [];
  return problems.length > 0 ? { problems } : result;
}
