import * as pulumi from "@pulumi/pulumi";
import { ProgramError } from "./errors.js";

/**
 * Returns the value of an output without making the caller depend on its resource. Rejects if that
 * resource fails, even if the engine continues.
 */
export async function settled<T extends string | number>(output: pulumi.Output<T>): Promise<T> {
  const { value } = await pulumi.runtime.serializeProperties("settled", { value: output });
  if (value === pulumi.runtime.unknownValue)
    throw new ProgramError("FAILED", "Something that others wait for failed.");
  return value as T;
}

/**
 * Returns `input` once `other` is known, without a dependency on the resource of `other`: both are
 * created in this order, but deleted at the same time. A preview does not wait.
 */
export const knownAfter = (
  other: pulumi.Output<string> | undefined,
  input: pulumi.Output<string>,
): pulumi.Output<string> =>
  other === undefined || pulumi.runtime.isDryRun()
    ? input
    : pulumi.all([input, settled(other)]).apply(([known]) => known);
