import { isPlainObject } from "../../../schema/merge-defaults.js";
import { shortValue } from "../../../schema/fields.js";

/**
 * Decision about a flag of a component or a field of its configuration: the values that a user may
 * write. A value is refused if the component starts with the value, and the cluster then does not
 * work or is not secure. A value with which the component does not start is not refused here,
 * because the machine then restores the former configuration.
 */
export interface Decision {
  /** Returns the reason for which a value is refused. Returns undefined for an accepted value. */
  readonly findProblem: (value: unknown) => string | undefined;
  /** Entries that the program adds to the user's list. @default none */
  readonly merge?: readonly string[];
  /**
   * Value of the field in clusters that do not record the field. An existing cluster cannot change
   * the field (config/immutable-fields.ts).
   * @default an existing cluster can change the field
   */
  readonly kept?: string;
}

/** Decisions by the name of the flag, or by the path of the field, such as `authorization.mode`. */
export type Decisions = Readonly<Record<string, Decision>>;

/** Decision that accepts every value. */
export const free: Decision = { findProblem: () => undefined };

/** Returns a decision that refuses every value. `instead` says why, and what to write. */
export const refuse = (instead: string): Decision => ({ findProblem: () => instead });

/**
 * Returns a decision about the value. `find` returns the end of the error message. The message
 * begins with the value.
 */
export const check = (find: (value: unknown) => string | undefined): Decision => ({
  findProblem: (value) => {
    const problem = find(value);
    return problem === undefined ? undefined : `${shortValue(value)} ${problem}`;
  },
});

/** Returns a decision that accepts only the values in `allowed`. */
export const only = (allowed: readonly unknown[], problem: string): Decision =>
  check((value) =>
    [value].flat().every((one) => allowed.some((each) => String(each) === String(one)))
      ? undefined
      : problem,
  );

/** Returns a decision that accepts only a list with the entry `needed`. */
export const including = (needed: string, problem: string): Decision =>
  check((value) => (listEntries(value).includes(needed) ? undefined : problem));

/** Returns a decision that refuses a list with one of the entries in `refused`. */
export const excluding = (
  refused: readonly string[],
  problemOf: (entry: string) => string,
): Decision =>
  check((value) => {
    const found = listEntries(value).find((entry) => refused.includes(entry));
    return found === undefined ? undefined : problemOf(found);
  });

/** Returns the entries of a flag's value: a list, or a text with commas. Leaves out empty entries. */
export function listEntries(value: unknown): string[] {
  const all: unknown[] = [value ?? []].flat();
  return all.flatMap((one) => String(one).split(",")).filter((entry) => entry !== "");
}

/**
 * Returns the number of seconds of a duration such as `1m30s`. Returns undefined for other values.
 */
export function secondsOf(value: unknown): number | undefined {
  const text = String([value].flat().at(-1));
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const units: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };
  return [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
    (sum, [, amount, unit = ""]) => sum + Number(amount) * (units[unit] ?? 0),
    0,
  );
}

/**
 * Returns the flags, and adds the entries that the program needs to lists that lack them. kubeadm
 * sets the same entries, but a flag of the user replaces kubeadm's whole list.
 */
export const addNeededEntries = <Value>(
  decisions: Decisions,
  flags: Readonly<Record<string, Value>>,
): Record<string, Value | string> =>
  Object.fromEntries(
    Object.entries(flags).map(([flag, value]): [string, Value | string] => {
      const entries = listEntries(value);
      const missing = (decisions[flag]?.merge ?? []).filter((entry) => !entries.includes(entry));
      return [flag, missing.length === 0 ? value : [...entries, ...missing].join(",")];
    }),
  );

/** Problem of a flag or field, with its path below the component's settings. */
export interface FlagProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Returns the problem of a flag of `component`. A flag without a decision is refused, because a
 * mistyped flag is only found when the component does not start.
 */
export function findFlagProblem(
  component: string,
  decisions: Decisions,
  flag: string,
  value: unknown,
): string | undefined {
  if (!/^[a-z][a-z0-9-]*$/.test(flag))
    return "is not the name of a flag; write it without dashes before it, in small letters";
  return Object.hasOwn(decisions, flag)
    ? decisions[flag]?.findProblem(value)
    : `is not a flag of ${component} that this release knows; correct its name or leave it out`;
}

/**
 * Returns the problems of the fields of a configuration of the given kind. Goes into objects whose
 * fields have decisions.
 */
export function findFieldProblems(
  kind: string,
  decisions: Decisions,
  fields: Readonly<Record<string, unknown>>,
  above: readonly string[] = [],
): FlagProblem[] {
  return Object.entries(fields).flatMap(([key, value]): FlagProblem[] => {
    const path = [...above, key];
    const name = path.join(".");
    if (Object.hasOwn(decisions, name)) {
      const message = decisions[name]?.findProblem(value);
      return message === undefined ? [] : [{ path, message }];
    }
    if (!Object.keys(decisions).some((each) => each.startsWith(`${name}.`)))
      return [
        {
          path,
          message: `is not a field of ${kind} that this release knows; correct its name or leave it out`,
        },
      ];
    if (isPlainObject(value)) return findFieldProblems(kind, decisions, value, path);
    return [{ path, message: `${shortValue(value)} is not an object; write its fields` }];
  });
}

/**
 * Returns the fields that an existing cluster cannot change, each with the value that clusters have
 * if they do not record the field.
 */
export const listKeptFields = (decisions: Decisions): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(decisions).flatMap(([name, { kept }]) =>
      kept === undefined ? [] : [[name, kept] as const],
    ),
  );

/** Text that stands for the absence of a value. */
export const nothing = "nothing";
