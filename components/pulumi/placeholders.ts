import * as pulumi from "@pulumi/pulumi";
import { createPlaceholder, splitAtPlaceholders } from "../../base/placeholders.js";
import { ProgramError, type ArgumentProblem } from "./errors.js";

/** Outputs by their placeholder. A program has few of them, so they are never removed. */
const outputs = new Map<string, pulumi.Output<string>>();

type ArgumentPath = readonly (string | number)[];

/** Rules for outputs in a cluster's arguments. */
export interface OutputRules {
  /** Returns how the argument accepts an output. Undefined: the argument accepts no output. */
  readonly useOf: (path: ArgumentPath) => "placeholder" | "value" | undefined;
  /** Returns the error message for an output that the argument does not accept. */
  readonly refusalOf: (path: ArgumentPath) => string;
}

/** Arguments in which placeholders stand for outputs. */
export interface PlacedArguments {
  readonly placed: unknown;
  /** Outputs that an argument does not accept. `placed` does not contain these arguments. */
  readonly problems: readonly ArgumentProblem[];
}

/** Replaces the outputs and promises in a cluster's arguments by placeholders. */
export function placeOutputs(args: unknown, rules: OutputRules): PlacedArguments {
  const problems: ArgumentProblem[] = [];
  // An output at two paths gets one placeholder, so that checks see that the values are equal.
  const known = new Map<unknown, string>();
  const refuse = (path: ArgumentPath, message: string): void => {
    problems.push({ path: ["cluster", ...path].join("."), message });
  };
  const placeOutput = (value: unknown, path: ArgumentPath): unknown => {
    const use = rules.useOf(path);
    if (use === undefined) refuse(path, rules.refusalOf(path));
    if (use !== "placeholder") return use && value;
    const placeholder = known.get(value) ?? registerOutput(path.join("."), value);
    known.set(value, placeholder);
    return placeholder;
  };
  const place = (value: unknown, path: ArgumentPath): unknown => {
    if (pulumi.Resource.isInstance(value)) {
      refuse(path, "is a resource; write its property `id`");
      return undefined;
    }
    if (pulumi.Output.isInstance(value) || value instanceof Promise)
      return placeOutput(value, path);
    if (Array.isArray(value)) return value.map((inner, index) => place(inner, [...path, index]));
    if (!isContainer(value)) return value;
    const entries = Object.entries(value).map(([key, inner]) => [
      key,
      place(inner, [...path, key]),
    ]);
    return Object.fromEntries(entries);
  };
  return { placed: place(args, []), problems };
}

function registerOutput(path: string, value: unknown): string {
  const placeholder = createPlaceholder(path);
  const output = pulumi.output(value as pulumi.Input<string>);
  outputs.set(
    placeholder,
    output.apply((known) => requireText(path, known)),
  );
  return placeholder;
}

/**
 * Returns the value of an output without blanks at its ends: `tls.PrivateKey` ends its public key
 * with a line end. Throws if the value is no text. The usual reason is an output that the other
 * stack does not have.
 */
function requireText(path: string, value: unknown): string {
  if (typeof value === "string" && value.trim() !== "") return value.trim();
  const found = value === undefined || value === "" ? "no value" : "a value that is no text";
  throw new ProgramError(
    "INVALID_CONFIG",
    `cluster.${path}: the Output has ${found}; pass an Output of a text, such as an ID`,
  );
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null;

/** Returns whether the value contains a placeholder. Does not search in outputs. */
const contains = (value: unknown): boolean => {
  if (typeof value === "string") return splitAtPlaceholders(value).length > 1;
  if (pulumi.Output.isInstance(value)) return false;
  return isContainer(value) && Object.values(value).some(contains);
};

const replace = (value: unknown): unknown => {
  if (typeof value === "string")
    return pulumi.concat(...splitAtPlaceholders(value).map((part) => outputs.get(part) ?? part));
  if (Array.isArray(value)) return value.map(replace);
  if (pulumi.Output.isInstance(value) || !isContainer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]));
};

/**
 * Returns the value with an output in the place of each placeholder. Returns the value itself if it
 * contains no placeholder.
 */
export const resolvePlaceholders = <T>(value: T): T | pulumi.Output<T> =>
  contains(value) ? replaced(value) : value;

const replaced = <T>(value: T): pulumi.Output<T> =>
  pulumi.output(replace(value)) as pulumi.Output<T>;

/**
 * Returns `map` of the value. If the value contains placeholders, returns an output, which is known
 * when they are.
 */
export const mapResolved = <T, Mapped>(
  value: T,
  map: (known: T) => Mapped,
): Mapped | pulumi.Output<Mapped> =>
  contains(value) ? replaced(value).apply<Mapped>((known) => map(known) as never) : map(value);

/** Returns a map whose values are resolved each on its own, so that the others stay known. */
export const resolveEach = (
  values: Readonly<Record<string, pulumi.Input<string>>>,
): Record<string, pulumi.Input<string>> =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "string" ? resolvePlaceholders(value) : value,
    ]),
  );
