import { getPackageRoot } from "../../base/paths.js";
import { Failure } from "../../base/failures/failure.js";
import type { DestroyPlan } from "../engine/operation-options.js";
import { renderDestroyPlanLine, renderDestroyPlanTables } from "../render/destroy-plan-tables.js";
import { promptLine } from "./prompt.js";
import type { StackContext } from "./stack-context.js";
import type { CommandSession } from "../../base/terminal/session.js";

/** Throws if the command has no `--yes` and cannot ask for confirmation. */
export function requireConfirmable({ json }: CommandSession, command: string, yes: boolean): void {
  if (yes || (!json && process.stdin.isTTY && process.stderr.isTTY)) return;
  const why = json ? "`--json` asks no questions" : "there is no terminal on which to ask";
  throw new Failure(
    "INVALID_USAGE",
    `\`${command}\` needs a confirmation, and ${why}.`,
    "Nothing was changed. Add `--yes` to confirm.",
  );
}

/** Shows the objects that will be deleted. Throws unless the user confirms the deletion. */
export async function confirmDeletion(
  { session, project: { directory } }: StackContext,
  plan: DestroyPlan,
  yes: boolean,
): Promise<void> {
  const { protection, goes, ...others } = plan;
  if (protection) throw protection;
  const going = goes.map(({ kind, id, name }) => ({ kind, id, name }));
  session.emit({ type: "plan", goes: going, ...others });
  if (!plan.held || session.json) return;
  const where = directory === getPackageRoot() ? "" : `The project is in ${directory}.`;
  const text = yes
    ? [renderDestroyPlanLine(plan), where].filter(Boolean).join("\n")
    : `\n${[renderDestroyPlanTables(plan), where].filter(Boolean).join("\n\n")}\n`;
  session.progress.note(text);
  if (yes) return;
  await requireTypedWords(session, wanted(plan));
}

interface Wanted {
  readonly question: string;
  /** Words that the user must type, in any order. */
  readonly words: readonly string[];
  /** Noun phrase that describes the words in the error message. */
  readonly what: string;
  /** Clause that describes the user's intention in the hint of the error. */
  readonly purpose: string;
}

/** Returns the words that the user must type: the names of all clusters. */
const wanted = ({ clusters: words }: DestroyPlan): Wanted =>
  words.length > 1
    ? {
        question: "Type the names of the clusters to destroy them all: ",
        words,
        what: "the clusters' names",
        purpose: "you want to destroy them",
      }
    : {
        question: "Type the cluster's name to destroy it: ",
        words,
        what: "the cluster's name",
        purpose: "you want to destroy it",
      };

const inOrder = (words: readonly string[]): string => words.filter(Boolean).toSorted().join(" ");

/** Asks the question. Throws unless the user types the words. */
export async function requireTypedWords({ signal }: CommandSession, asked: Wanted): Promise<void> {
  const { question, words, what, purpose } = asked;
  const answer = await promptLine(question, {
    input: process.stdin,
    output: process.stderr,
    signal,
  });
  if (inOrder(answer.split(/[\s,]+/)) !== inOrder(words))
    throw new Failure(
      "FAILED",
      `'${answer.trim()}' is not '${words.join(" ")}', ${what}: nothing was changed.`,
      `Run the same command again if ${purpose}.`,
    );
}
