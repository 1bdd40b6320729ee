import { createRequire } from "node:module";
import { isFailureCode } from "../../base/failures/failure-codes.js";
import { Failure } from "../../base/failures/failure.js";
import type { ToolchainPackageExports } from "../../base/substitute-programs.js";

const name = "@stackadm/toolchain";

/**
 * Returns the separate package `@stackadm/toolchain`. Returns undefined if the package is not
 * installed next to this one.
 *
 * @param from file from which Node searches the package. @default this file
 */
export function loadToolchainPackage(from = __filename): ToolchainPackageExports | undefined {
  const load = createRequire(from);
  try {
    load.resolve(name);
  } catch {
    return undefined;
  }
  return load(name) as ToolchainPackageExports;
}

/**
 * Returns a Failure of the package as a Failure of this program. Returns other errors unchanged.
 * The conversion is needed because the package has its own copy of the class `Failure`.
 */
export function convertPackageFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  const { code, hint } = error as Partial<Failure>;
  const isFailure = typeof code === "string" && isFailureCode(code) && typeof hint === "string";
  return isFailure ? new Failure(code, error.message, hint) : error;
}
