import * as pulumi from "@pulumi/pulumi";
import { ProgramError } from "./errors.js";

/**
 * What an output turns out to hold, without making whoever waits for it depend on its resource. Rejects when that resource
 * fails, also where the engine goes on in spite of it.
 */
export async function settled<T extends string | number>(output: pulumi.Output<T>): Promise<T> {
  const { value } = await pulumi.runtime.serializeProperties("settled", { value: output });
  if (value === pulumi.runtime.unknownValue)
    throw new ProgramError("FAILED", "Something that others wait for failed.");
  return value as T;
}

/**
 * An input that is known when `other` is, without depending on its resource: in that order they are made, and deleted at once. A
 * preview waits for nobody.
 */
export const knownAfter = (
  other: pulumi.Output<string> | undefined,
  input: pulumi.Output<string>,
): pulumi.Output<string> =>
  other === undefined || pulumi.runtime.isDryRun()
    ? input
    : pulumi.all([input, settled(other)]).apply(([known]) => known);
