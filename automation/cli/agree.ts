import { UserError } from "../../base/user-error.js";
import type { DestroyPlan } from "../cluster/options.js";
import { planLine, planTables } from "../render/destroy-plan.js";
import { ask } from "./ask.js";
import type { StackContext } from "./context.js";
import type { Session } from "./session.js";

/** Who cannot be asked has to say it beforehand. */
export function requireAnswer({ json }: Session, command: string, yes: boolean): void {
  if (yes || (!json && process.stdin.isTTY && process.stderr.isTTY)) return;
  const why = json ? "with `--json` it asks nobody" : "here is no terminal on which to ask";
  throw new UserError(
    `\`${command}\` wants to hear that it is meant, and ${why}.`,
    "Write `--yes`; nothing was changed.",
    2,
  );
}

/** Shows what goes, and goes on only when that is meant. */
export async function agree(
  { session }: StackContext,
  plan: DestroyPlan,
  yes: boolean,
): Promise<void> {
  const { protection, goes, ...others } = plan;
  if (protection) throw protection;
  const going = goes.map(({ kind, id, name }) => ({ kind, id, name }));
  session.emit({ type: "plan", goes: going, ...others });
  if (!plan.held || session.json) return;
  const { cluster } = plan;
  const text = yes ? planLine(plan) : `\n${planTables(plan)}\n`;
  session.progress.note(session.redactor.clean(text));
  if (yes) return;
  await typed(session, {
    question: "Type the cluster's name to destroy it: ",
    ...{ word: cluster, what: "the cluster's name", purpose: "it is to be destroyed" },
  });
}

interface Wanted {
  readonly question: string;
  readonly word: string;
  /** What the word is. */
  readonly what: string;
  /** When to run the command again. */
  readonly purpose: string;
}

/** Goes on only when a person types the word. */
export async function typed({ signal }: Session, wanted: Wanted): Promise<void> {
  const { question, word, what, purpose } = wanted;
  const answer = await ask(question, { input: process.stdin, output: process.stderr, signal });
  if (answer.trim() !== word)
    throw new UserError(
      `'${answer.trim()}' is not '${word}', ${what}: nothing was changed.`,
      `Run the same command again when ${purpose}.`,
    );
}
