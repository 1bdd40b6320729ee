import { failureCodes, isFailureCode, rowOf, type FailureCode } from "./failure-codes.js";

/** Resource that failed. */
export interface FailureSubject {
  readonly urn?: string;
  /** Logical name of the resource. */
  readonly resource?: string;
}

/** Known failure: a stable code, one sentence, and the next step. Printed without a stack trace. */
export class Failure extends Error {
  readonly hint: string;
  readonly exitCode: number;

  constructor(
    readonly code: FailureCode,
    /** Sentence that names path, value and what is wrong. */
    readonly sentence: string,
    /** Sentence or command for the next step. Default: that of the table. */
    hint?: string,
    readonly subject: FailureSubject = {},
  ) {
    super(sentence);
    this.name = "Failure";
    const row = rowOf(code);
    this.hint = hint ?? row.hint;
    this.exitCode = row.exitCode;
  }
}

/*
 * Transport of failure codes. Between the program and the service is the engine, which passes only
 * text. So the program writes the code before its sentence, as in "[NOT_READY] The machine ...",
 * and the service removes it again.
 */

/** Returns a failure as text for the engine. */
export const textWithCode = (code: FailureCode, sentence: string): string =>
  `[${code}] ${sentence}`;

/**
 * Pattern of the code at the very beginning of a text, where no other program's words can be. The
 * SDK's own prefix of repeated errors is kept; the engine's prefix for errors of hooks is dropped,
 * because it tells the user nothing.
 */
const mark =
  /^(?:(.*\bOne or more errors occurred: )|(?:Preview failed: )?before hook "[^"\\\n]*" failed: )?\[([A-Z_]+)\] /;

/**
 * Returns the code and sentence in a text from {@link textWithCode}; no code for any other text.
 */
export function splitCode(text: string): { readonly code?: FailureCode; readonly text: string } {
  const [whole = "", before = "", code = ""] = mark.exec(text) ?? [];
  return isFailureCode(code) ? { code, text: before + text.slice(whole.length) } : { text };
}

/**
 * Returns the line of a plugin's error that states the reason: the first line, or the first entry
 * of the list that the first line announces. The body of a cloud's answer is included: gophercloud
 * 1 writes it on the next line, gophercloud 2 on the same line.
 */
export function reasonLine(text: string): string {
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
  // The command plugin quotes its command, which has values of people's own.
  return line.replace(/: running ".*$/, "");
}

/**
 * Pattern of URNs. They contain names that users choose, of stacks too, which may have capitals.
 */
const urns = /urn:pulumi:[^\s"']+/g;

/**
 * Returns the meaning of another program's error: its code, and its text from the match on. Returns
 * undefined for an unknown error.
 *
 * @param type type of the resource that failed; "" if unknown
 */
export function recogniseError(
  text: string,
  type: string,
): { readonly code: FailureCode; readonly words: string } | undefined {
  const line = reasonLine(text).replaceAll(urns, "");
  for (const code of failureCodes)
    for (const said of rowOf(code).said ?? []) {
      const speaks = type === "" || type.startsWith(said.of ?? "");
      const match = speaks ? said.text.exec(line) : null;
      if (match) return { code, words: line.slice(match.index).trim().slice(0, 600) };
    }
  return undefined;
}
