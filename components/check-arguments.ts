import type { ClusterSpec, SpecResult } from "./config/cluster-spec.js";
import { describePlainArgument, findOutputUse } from "./config/output-arguments.js";
import { validateClusterSpec } from "./config/validate-cluster-spec.js";
import type { PinnedFileDirectories } from "./lookup/pinned-files.js";
import { placeOutputs } from "./pulumi/placeholders.js";

/**
 * Checks a cluster's arguments, which may contain outputs. The specification contains placeholders
 * for the outputs.
 *
 * @param complete returns the arguments with defaults. It gets placeholders instead of outputs.
 * Default: the arguments have no further defaults
 */
export function checkArguments(
  args: unknown,
  files?: PinnedFileDirectories,
  complete: (args: unknown) => unknown = (placed) => placed,
): SpecResult {
  const rules = { useOf: findOutputUse, refusalOf: describePlainArgument };
  const { placed, problems } = placeOutputs(args, rules);
  const result = validateClusterSpec(complete(placed), files);
  if (problems.length === 0) return result;
  // The schema also reports that a refused output is missing.
  const refused = new Set(problems.map(({ path }) => path));
  const others = "problems" in result ? result.problems : [];
  return { problems: [...problems, ...others.filter(({ path }) => !refused.has(path))] };
}

/** Specifications of arguments that were checked before, by the arguments. */
const checked = new WeakMap<object, ClusterSpec>();

/** Records the specification of checked arguments, so that they are checked only once. */
export function rememberSpec<Args extends object>(args: Args, spec: ClusterSpec): Args {
  checked.set(args, spec);
  return args;
}

/** Returns the specification of arguments that were checked before. */
export const recallSpec = (args: object): ClusterSpec | undefined => checked.get(args);
