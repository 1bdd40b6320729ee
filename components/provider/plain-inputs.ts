import * as pulumi from "@pulumi/pulumi";
import type { Schema } from "../config/json-schema.js";
import type { ArgumentProblem } from "../pulumi/errors.js";
import { awaitKnownOutput } from "../pulumi/pulumi-internals.js";

/** Arguments whose values are plain, except where the schema accepts an output. */
export interface PlainInputs {
  readonly args: Readonly<Record<string, unknown>>;
  /** Arguments that are not known yet, or secret where the cluster needs a plain value. */
  readonly problems: readonly ArgumentProblem[];
}

/**
 * Returns the arguments of a component with plain values. In other languages, a known value may be
 * an output, for example the result of a function in a YAML program. Outputs stay where the schema
 * accepts outputs.
 */
export async function readPlainInputs(inputs: pulumi.Inputs, schema: Schema): Promise<PlainInputs> {
  const problems: ArgumentProblem[] = [];
  const args = await read(inputs, schema, "", problems);
  return { args: args as Readonly<Record<string, unknown>>, problems };
}

async function read(
  value: unknown,
  schema: Schema | undefined,
  path: string,
  problems: ArgumentProblem[],
): Promise<unknown> {
  if (schema?.acceptsOutput === "value") return value;
  if (pulumi.Output.isInstance(value)) {
    const problem = await findProblem(value);
    if (problem === undefined) return read(await awaitKnownOutput(value), schema, path, problems);
    if (schema?.acceptsOutput !== undefined) return value;
    problems.push({ path, message: problem });
    return undefined;
  }
  if (Array.isArray(value))
    return Promise.all(
      value.map((one, index) => read(one, schema?.items, `${path}[${String(index)}]`, problems)),
    );
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(
    async ([key, one]) =>
      [
        key,
        await read(one, fieldOf(schema, key), path === "" ? key : `${path}.${key}`, problems),
      ] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** Returns the schema of a field. In a union, all members have the same schema for a field. */
const fieldOf = (schema: Schema | undefined, key: string): Schema | undefined =>
  schema?.properties?.[key] ??
  schema?.oneOf?.map((member) => member.properties?.[key]).find((one) => one !== undefined) ??
  (typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined);

async function findProblem(value: pulumi.Output<unknown>): Promise<string | undefined> {
  if (await pulumi.isSecret(value))
    return "is a secret, but this value is stored in plain text; write a plain value";
  const isKnown = await awaitKnownOutput(value).then(
    () => true,
    () => false,
  );
  return isKnown
    ? undefined
    : "is not known before the update, but it decides which resources exist; write a plain value, for example a name";
}
