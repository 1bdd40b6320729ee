/** What was found before the first write. */
export interface Finding {
  readonly severity: "problem" | "warning";
  /** `<what>: <what is wrong>; <what to do>`. */
  readonly text: string;
}

export const problem = (text: string): Finding => ({ severity: "problem", text });
export const warning = (text: string): Finding => ({ severity: "warning", text });

/** What there is, after what there is not. */
export const known = (names: readonly (string | null)[]): string =>
  names.length === 0 ? "there are none" : `there are: ${names.slice(0, 12).join(", ")}`;
