import { createRequire } from "node:module";
import { isFailureCode } from "../../base/failures/failure-codes.js";
import { Failure } from "../../base/failures/failure.js";
import type { Progress } from "../../base/progress.js";
import type { SubstitutePrograms } from "../../base/substitute-programs.js";

/**
 * Packages of this repository that are not part of the product, with what the product uses of
 * their exports.
 */
export interface OptionalPackages {
  readonly "@stackadm/lab": {
    readonly labUp: (options: {
      readonly progress: Progress;
      readonly signal: AbortSignal;
    }) => Promise<unknown>;
  };
  readonly "@stackadm/lab/cli": { readonly main: (args: readonly string[]) => Promise<void> };
  readonly "@stackadm/toolchain": SubstitutePrograms;
}

/**
 * Returns a package that is installed next to this one; undefined if it is not installed.
 *
 * @param from file from which the package is searched. @default this one
 */
export function optionalPackage<Name extends keyof OptionalPackages>(
  name: Name,
  from = __filename,
): OptionalPackages[Name] | undefined {
  const load = createRequire(from);
  try {
    load.resolve(name);
  } catch {
    return undefined;
  }
  return load(name) as OptionalPackages[Name];
}

/** Returns a package, or throws an error that tells how to install it. */
export function requirePackage<Name extends keyof OptionalPackages>(
  name: Name,
  from = __filename,
): OptionalPackages[Name] {
  const found = optionalPackage(name, from);
  if (found) return found;
  const [scope = "", folder = ""] = name.split("/");
  throw new Failure(
    "TOOL_MISSING",
    `The package ${scope}/${folder} is not installed.`,
    `Install it next to stackadm: npm install --save-dev ${scope}/${folder}.`,
  );
}

/**
 * Returns an error of such a package as an error of this program: the package has its own copy of
 * the class `Failure`.
 */
export function ownFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  const { code, hint } = error as Partial<Failure>;
  const isFailure = typeof code === "string" && isFailureCode(code) && typeof hint === "string";
  return isFailure ? new Failure(code, error.message, hint) : error;
}
