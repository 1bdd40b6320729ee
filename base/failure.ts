import { failureCodes, isFailureCode, rowOf, type FailureCode } from "./failures.js";

/** Where it went wrong. */
export interface FailureSubject {
  readonly urn?: string;
  /** The resource's logical name. */
  readonly resource?: string;
}

/** What we know to have failed: a stable code, one sentence, what to do next. Printed without a stack, with its exit code. */
export class Failure extends Error {
  readonly hint: string;
  readonly exitCode: number;

  constructor(
    readonly code: FailureCode,
    /** What is wrong, naming path and value. */
    readonly sentence: string,
    /** A sentence or a command. Default: the table's. */
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
 * Between the program and whoever runs it stands the engine, and what passes through it is text. So the program puts the code
 * before its sentence, as in "[NOT_READY] The machine ...", and the service takes it off again.
 */

/** A failure as the program says it to the engine. */
export const marked = (code: FailureCode, sentence: string): string => `[${code}] ${sentence}`;

/**
 * Only the very beginning counts, where nobody else's words can stand; the SDK repeats errors with a beginning of its own, which
 * stays. What the engine puts before the error of a hook says nothing to whoever runs it.
 */
const mark =
  /^(?:(.*\bOne or more errors occurred: )|(?:Preview failed: )?before hook "[^"\\\n]*" failed: )?\[([A-Z_]+)\] /;

/** What {@link marked} was given; without a code when it is not the program's. */
export function unmarked(text: string): { readonly code?: FailureCode; readonly text: string } {
  const [whole = "", before = "", code = ""] = mark.exec(text) ?? [];
  return isFailureCode(code) ? { code, text: before + text.slice(whole.length) } : { text };
}

/**
 * Returns the line of a plugin's error that gives the reason: the first line, or the first entry of the list that the first line announces.
 * The body of a cloud's answer is part of it: gophercloud 1 writes the body on the next line, gophercloud 2 on the same line.
 */
export function tellingLine(text: string): string {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.trim());
  const listed = /errors? occurred:$/.test(lines[0] ?? "")
    ? lines.findIndex((line, index) => index > 0 && line.startsWith("* "))
    : 0;
  const [first = "", body = ""] = lines.slice(Math.max(listed, 0));
  const line = listed > 0 ? first.replace(/^\* /, "").trim() : first;
  return /but got \d{3} instead$/.test(line) ? `${line}: ${body}` : line;
}

/** URNs hold names that people choose, of stacks too, which may have capitals. */
const urns = /urn:pulumi:[^\s"']+/g;

/**
 * What somebody else's error means: its code, and its words from where they fit. Undefined when nobody knows.
 *
 * @param type of the resource of which it is said; "" when that is not known
 */
export function recognised(
  text: string,
  type: string,
): { readonly code: FailureCode; readonly words: string } | undefined {
  const line = tellingLine(text).replaceAll(urns, "");
  for (const code of failureCodes)
    for (const said of rowOf(code).said ?? []) {
      const speaks = type === "" || type.startsWith(said.of ?? "");
      const match = speaks ? said.text.exec(line) : null;
      if (match) return { code, words: line.slice(match.index).trim().slice(0, 600) };
    }
  return undefined;
}
