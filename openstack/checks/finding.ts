/** Problem or warning from a check that runs before the program changes anything. */
export interface Finding {
  readonly severity: "problem" | "warning";
  /** Text in the form `<subject>: <what is wrong>; <what to do>`. */
  readonly text: string;
}

export const createProblem = (text: string): Finding => ({ severity: "problem", text });
export const createWarning = (text: string): Finding => ({ severity: "warning", text });

/** Returns a list of the existing names, for a message about a name that does not exist. */
export const formatExistingNames = (names: readonly (string | null)[]): string =>
  names.length === 0 ? "there are none" : `there are: ${names.slice(0, 12).join(", ")}`;

/** Returns the message that several objects have a name, with their IDs. */
export const formatSeveral = (
  kind: string,
  name: string,
  found: readonly { readonly id: string }[],
): string =>
  `${found.length} ${kind} are called '${name}' (${found.map(({ id }) => id).join(", ")}); write the ID of one`;
