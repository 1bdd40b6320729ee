import * as pulumi from "@pulumi/pulumi";
import { ProgramError } from "./errors.js";
import { awaitSettledOutput } from "./pulumi-internals.js";

/**
 * Returns the value of an output. Resources that the caller then creates do not depend on the
 * output's resource. Rejects if that resource fails, also if the engine continues after errors.
 */
export async function awaitOutput<T extends string | number>(output: pulumi.Output<T>): Promise<T> {
  const value = await awaitSettledOutput(output);
  if (value === undefined)
    throw new ProgramError("FAILED", "Something that others wait for failed.");
  return value;
}

/**
 * Returns an output with the value of `input` that becomes known only after `other`. A resource
 * that uses the output is created after the resource of `other`, but does not depend on that
 * resource. Pulumi therefore deletes the two resources at the same time. A preview does not wait.
 */
export const delayOutputUntil = (
  other: pulumi.Output<string> | undefined,
  input: pulumi.Output<string>,
): pulumi.Output<string> =>
  other === undefined || pulumi.runtime.isDryRun()
    ? input
    : pulumi.all([input, awaitOutput(other)]).apply(([known]) => known);
