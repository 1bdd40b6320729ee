import { UserError } from "../../base/user-error.js";
import type { DestroyPlan } from "../cluster/options.js";
import { planLine, planTables } from "../render/destroy-plan.js";
import { ask } from "./ask.js";
import type { StackContext } from "./context.js";
import type { Session } from "./session.js";

/** Who cannot be asked has to say it beforehand. */
export function requireAnswer({ json }: Session, yes: boolean): void {
  if (yes || (!json && process.stdin.isTTY && process.stderr.isTTY)) return;
  const why = json ? "with `--json` it asks nobody" : "here is no terminal on which to ask";
  throw new UserError(
    `\`destroy\` wants to hear that it is meant, and ${why}.`,
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
  const answer = await ask("Type the cluster's name to destroy it: ", {
    ...{ input: process.stdin, output: process.stderr, signal: session.signal },
  });
  if (answer.trim() !== cluster)
    throw new UserError(
      `'${answer.trim()}' is not '${cluster}', the cluster's name: nothing was changed.`,
      "Run the same command again when it is to be destroyed.",
    );
}
