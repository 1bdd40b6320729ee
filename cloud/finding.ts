/** What was found before the first write. */
export interface Finding {
  readonly severity: "problem" | "warning";
  /** `<what>: <what is wrong>; <what to do>`. */
  readonly text: string;
}

export const problem = (text: string): Finding => ({ severity: "problem", text });
export const warning = (text: string): Finding => ({ severity: "warning", text });
