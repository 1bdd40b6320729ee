import * as pulumi from "@pulumi/pulumi";
import { ProgramError } from "./errors.js";
import { settledValue } from "./pulumi-internals.js";

/**
 * Returns the value of an output. The caller does not depend on the output's resource. Rejects if
 * that resource fails, even if the engine continues after an error.
 */
export async function awaitOutput<T extends string | number>(output: pulumi.Output<T>): Promise<T> {
  const value = await settledValue(output);
  if (value === undefined)
    throw new ProgramError("FAILED", "Something that others wait for failed.");
  return value;
}

/**
 * Returns `input` as soon as `other` is known, without a dependency on the resource of `other`: the
 * resource of `other` is created first, but both resources are deleted at the same time. A preview
 * does not wait.
 */
export const outputAfter = (
  other: pulumi.Output<string> | undefined,
  input: pulumi.Output<string>,
): pulumi.Output<string> =>
  other === undefined || pulumi.runtime.isDryRun()
    ? input
    : pulumi.all([input, awaitOutput(other)]).apply(([known]) => known);
