import { Failure, recognised, unmarked, type FailureSubject } from "../../base/failure.js";
import { failureCodes, rowOf, type FailureCode } from "../../base/failures.js";
import type { ClusterEvent } from "./events.js";
import { parseUrn, shortType } from "./urn.js";

/** One error message of the engine. */
export interface ErrorMessage {
  /** Empty when it is of no resource. */
  readonly urn: string;
  readonly text: string;
  /** The program knew what it was. */
  readonly code?: FailureCode;
}

/** What a message means, and who knew it: our own code, our script on a machine, or only the text. */
interface Meaning {
  readonly code: FailureCode;
  readonly sentence: string;
  readonly hint?: string;
  readonly own: boolean;
}

const longest = 600;

/** Lines that say how a command ended, or that it worked, but not what went wrong. */
const noise = /Process exited|exit status|^\s*(ok|\{.*\})?\s*$|To see the stack trace|^--- \d/i;

/** The last line that is no noise. */
const lastLine = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !noise.test(line))
    .at(-1)
    ?.trim()
    .slice(0, longest) ?? "";

const withoutStop = (text: string): string => text.replace(/\.$/, "");
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The type of the resource that a message is about; "" for the program as a whole. */
function typeOf(urn: string): string {
  const { type } = parseUrn(urn);
  return type === "pulumi:pulumi:Stack" ? "" : type;
}

const who = (urn: string): string => `${shortType(typeOf(urn))} '${parseUrn(urn).name}'`;

const about = (urn: string, sentence: string): string =>
  typeOf(urn) === "" ? capital(sentence) : `${who(urn)}: ${sentence}`;

/** A row of the table, with what was said in particular. */
const filled = (urn: string, code: FailureCode, words: string): string =>
  `${about(urn, rowOf(code).sentence)} (${withoutStop(words)}).`;

/**
 * Our scripts end with a line `reason: ` (components/support/scripts/common.sh). What they printed before may be anything,
 * the log of a machine too.
 */
function meaningOfScript({ urn, text }: ErrorMessage): Meaning | undefined {
  if (!typeOf(urn).startsWith("command:remote:")) return undefined;
  const reason = /^reason: (.+)$/.exec(lastLine(text))?.[1];
  if (reason === undefined) return undefined;
  const { code, text: sentence } = unmarked(reason);
  return code === undefined
    ? { own: true, code: "COMMAND_FAILED", sentence: filled(urn, "COMMAND_FAILED", sentence) }
    : { own: true, code, sentence: `${about(urn, withoutStop(sentence))}.` };
}

/** What OpenStack, the engine and its plugins say. */
function meaningOfText({ urn, text }: ErrorMessage): Meaning {
  const found = recognised(text, typeOf(urn));
  if (!found) {
    const said = `${typeOf(urn) === "" ? "The program" : who(urn)}: ${text.trim().slice(0, longest)}`;
    const hint = "Run the same command again: it goes on where it stopped.";
    return { own: false, code: "FAILED", sentence: said, hint };
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

/** What one error message of the engine means. */
export const explainMessage = (message: ErrorMessage): Failure =>
  failureOf(message, meaningOf(message));

/** Lines that only say that there were other messages. */
const echoes =
  /^(update|preview|destroy|refresh) failed$|resource (?:creation|update|deletion) failed|One or more errors occurred|error: (update|preview) failed/i;

/** The console of a machine may hold such lines, too. */
const isEcho = ({ text }: ErrorMessage): boolean =>
  echoes.test(text.trim().split("\n", 1)[0] ?? "");

/**
 * What to show first comes first: what our own code knows before what others say, and causes before consequences, as the table has
 * them. That something else failed is what our own code knows last.
 */
function rank({ own, code }: Meaning): number {
  const group = own ? (code === "FAILED" ? 2 : 0) : 1;
  return group * failureCodes.length + failureCodes.indexOf(code);
}

/**
 * The engine's error messages, each with what it means, the one to show first; echoes of others left out when there are
 * others.
 */
export function explainAll(events: readonly ClusterEvent[]): Failure[] {
  const errors = events.flatMap((event) =>
    event.type === "message" && event.severity === "error" ? [event] : [],
  );
  const own = errors.filter((error) => !isEcho(error));
  return (own.length > 0 ? own : errors)
    .map((message) => ({ message, meaning: meaningOf(message) }))
    .sort((a, b) => rank(a.meaning) - rank(b.meaning))
    .map(({ message, meaning }) => failureOf(message, meaning));
}
