import {
  Failure,
  recogniseError,
  splitFailureCode,
  type FailureSubject,
} from "../../base/failures/failure.js";
import {
  failureCodes,
  getFailureRow,
  type FailureCode,
} from "../../base/failures/failure-codes.js";
import type { DecodedEngineEvent } from "../pulumi/events.js";
import { parseUrn, getShortType } from "../pulumi/urn.js";

export interface ErrorMessage {
  /** URN of the resource. Empty if the message is not about a resource. */
  readonly urn: string;
  readonly text: string;
  /**
   * Failure code that our program or script put before the text. Absent if the text has no code.
   */
  readonly code?: FailureCode;
}

/**
 * Meaning of a message. `own` is whether our program or script stated the meaning. Otherwise, the
 * meaning was derived from the text of another program.
 */
interface Meaning {
  readonly code: FailureCode;
  readonly sentence: string;
  readonly hint?: string;
  readonly own: boolean;
}

const longest = 600;

/**
 * Matches lines that do not contain the cause of an error: exit statuses, results of successful
 * commands, and similar lines.
 */
const noise =
  /Process exited|exit status|^\s*(ok|(@stackadm )?\{.*\})?\s*$|To see the stack trace|^--- \d/i;

/** Returns the last line that does not match `noise`. */
const lastLine = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !noise.test(line))
    .at(-1)
    ?.trim()
    .slice(0, longest) ?? "";

const withoutStop = (text: string): string => text.replace(/\.$/, "");
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Returns the type of the resource that a message is about. Returns "" if the message is about the
 * program as a whole.
 */
function typeOf(urn: string): string {
  const { type } = parseUrn(urn);
  return type === "pulumi:pulumi:Stack" ? "" : type;
}

const who = (urn: string): string => `${getShortType(typeOf(urn))} '${parseUrn(urn).name}'`;

const about = (urn: string, sentence: string): string =>
  typeOf(urn) === "" ? capital(sentence) : `${who(urn)}: ${sentence}`;

/** Returns the failure table's sentence for this code, followed by `words` in parentheses. */
const filled = (urn: string, code: FailureCode, words: string): string =>
  `${about(urn, getFailureRow(code).sentence)} (${withoutStop(words)}).`;

/**
 * Returns the meaning of a script's error. Returns undefined for other errors. The last line of a
 * failed script is `reason: ...` (components/remote-scripts/scripts/common.sh). Ignores other
 * lines, because these lines may contain any text, such as a machine's log.
 */
function meaningOfScript({ urn, text }: ErrorMessage): Meaning | undefined {
  if (!typeOf(urn).startsWith("command:remote:")) return undefined;
  const reason = /^reason: (.+)$/.exec(lastLine(text))?.[1];
  if (reason === undefined) return undefined;
  const { code, text: sentence } = splitFailureCode(reason);
  return code === undefined
    ? { own: true, code: "COMMAND_FAILED", sentence: filled(urn, "COMMAND_FAILED", sentence) }
    : { own: true, code, sentence: `${about(urn, withoutStop(sentence))}.` };
}

/** Returns the meaning of an error of OpenStack, the engine or its plugins. */
function meaningOfText({ urn, text }: ErrorMessage): Meaning {
  const found = recogniseError(text, typeOf(urn));
  if (!found) {
    const sentence = `${typeOf(urn) === "" ? "The program" : who(urn)}: ${text.trim().slice(0, longest)}`;
    const hint = "Run the same command again: it continues where it stopped.";
    return { own: false, code: "FAILED", sentence, hint };
  }
  const { code } = found;
  const words = code === "COMMAND_FAILED" ? lastLine(text) || found.words : found.words;
  return { own: false, code, sentence: filled(urn, code, words) };
}

const meaningOf = (message: ErrorMessage): Meaning =>
  message.code === undefined
    ? (meaningOfScript(message) ?? meaningOfText(message))
    : { own: true, code: message.code, sentence: message.text };

function failureOf({ urn }: ErrorMessage, { code, sentence, hint }: Meaning): Failure {
  const subject: FailureSubject = urn === "" ? {} : { urn, resource: parseUrn(urn).name };
  return new Failure(code, sentence, hint, subject);
}

/** Returns the failure that corresponds to an error message of the engine. */
export const explainMessage = (message: ErrorMessage): Failure =>
  failureOf(message, meaningOf(message));

/** Matches lines that only report that other errors occurred. */
const echoes =
  /^(update|preview|destroy|refresh) failed$|resource (?:creation|update|deletion) failed|One or more errors occurred|error: (update|preview) failed/i;

/**
 * Returns whether a message only reports that other errors occurred. Only the first line is
 * checked, because a machine's console log may also contain such lines.
 */
const isEcho = ({ text }: ErrorMessage): boolean =>
  echoes.test(text.trim().split("\n", 1)[0] ?? "");

/**
 * Returns the sort key of a failure. The first group are failures that our program or scripts
 * stated, the second group are failures of other programs, and the third group is our program's
 * general FAILED. Within a group, the failure table determines the order: causes before
 * consequences.
 */
function rank({ own, code }: Meaning): number {
  const group = own ? (code === "FAILED" ? 2 : 0) : 1;
  return group * failureCodes.length + failureCodes.indexOf(code);
}

/**
 * Returns the engine's error messages as failures, the most important failure first. Leaves out
 * messages that only report other errors, unless there are no other messages.
 */
export function explainMessages(events: readonly DecodedEngineEvent[]): Failure[] {
  const errors = events.flatMap((event) =>
    event.type === "message" && event.severity === "error" ? [event] : [],
  );
  const own = errors.filter((error) => !isEcho(error));
  return (own.length > 0 ? own : errors)
    .map((message) => ({ message, meaning: meaningOf(message) }))
    .sort((a, b) => rank(a.meaning) - rank(b.meaning))
    .map(({ message, meaning }) => failureOf(message, meaning));
}
