import { failureCodes, isFailureCode, getFailureRow, type FailureCode } from "./failure-codes.js";

/** Resource that failed. */
export interface FailureSubject {
  readonly urn?: string;
  /** Logical name of the resource. */
  readonly resource?: string;
}

/** Known failure: a stable code, a sentence and the next step. Printed without a stack trace. */
export class Failure extends Error {
  readonly hint: string;
  readonly exitCode: number;

  constructor(
    readonly code: FailureCode,
    /** Sentence with the path, the value and the reason. */
    readonly sentence: string,
    /** Next step for the user: a sentence or a command. Default: the hint of the code's row. */
    hint?: string,
    readonly subject: FailureSubject = {},
  ) {
    super(sentence);
    this.name = "Failure";
    const row = getFailureRow(code);
    this.hint = hint ?? row.hint;
    this.exitCode = row.exitCode;
  }
}

/*
 * Failure codes in texts. A failure passes through the engine on its way from the Pulumi program to
 * the service, and the engine passes on only text. The program therefore writes the code before the
 * sentence: "[NOT_READY] The machine ...". The service removes the code.
 */

/** Returns a failure as text for the engine. */
export const prependFailureCode = (code: FailureCode, sentence: string): string =>
  `[${code}] ${sentence}`;

/**
 * Pattern of a failure code at the beginning of a text. A match later in the text could come from
 * the text of another program. The first group is a prefix of Pulumi's SDK for repeated errors,
 * which is kept in the text. The engine's prefix for errors of hooks is removed, because this
 * prefix does not help the user.
 */
const mark =
  /^(?:(.*\bOne or more errors occurred: )|(?:Preview failed: )?before hook "[^"\\\n]*" failed: )?\[([A-Z_]+)\] /;

/**
 * Returns the code and the sentence of a text from {@link prependFailureCode}. Returns no code for
 * any other text.
 */
export function splitFailureCode(text: string): {
  readonly code?: FailureCode;
  readonly text: string;
} {
  const [whole = "", before = "", code = ""] = mark.exec(text) ?? [];
  return isFailureCode(code) ? { code, text: before + text.slice(whole.length) } : { text };
}

/**
 * Returns the line that states the reason of a plugin's error: the first line, or the first entry
 * of a list that the first line announces. Includes the body of the cloud's response, which
 * gophercloud 1 writes on the next line and gophercloud 2 on the same line.
 */
export function findReasonLine(text: string): string {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.trim());
  const listed = /errors? occurred:$/.test(lines[0] ?? "")
    ? lines.findIndex((line, index) => index > 0 && line.startsWith("* "))
    : 0;
  const [first = "", body = ""] = lines.slice(Math.max(listed, 0));
  const line = listed > 0 ? first.replace(/^\* /, "").trim() : first;
  if (/but got \d{3} instead$/.test(line)) return `${line}: ${body}`;
  // The command plugin adds the command to its error. The command may contain values of the user.
  return line.replace(/: running ".*$/, "");
}

/**
 * Pattern of URNs. A URN contains names that users chose, for example the name of the stack. These
 * names may contain capital letters, so they could match an error pattern.
 */
const urns = /urn:pulumi:[^\s"']+/g;

/**
 * Returns the failure code for an error text of another program. Also returns the text from the
 * match to the end. Returns undefined for an unknown error.
 *
 * @param type type of the resource that failed. "" if the type is unknown
 */
export function recogniseError(
  text: string,
  type: string,
): { readonly code: FailureCode; readonly words: string } | undefined {
  const line = findReasonLine(text).replaceAll(urns, "");
  for (const code of failureCodes)
    for (const pattern of getFailureRow(code).said ?? []) {
      const applies = type === "" || type.startsWith(pattern.of ?? "");
      const match = applies ? pattern.text.exec(line) : null;
      if (match) return { code, words: line.slice(match.index).trim().slice(0, 600) };
    }
  return undefined;
}
