import { requireConfirmable, requireTypedWords } from "../confirm.js";
import {
  followOperation,
  withStack,
  type StackContext,
  type StackOptions,
} from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly yes: boolean;
}

async function unlockStack(context: StackContext, yes: boolean): Promise<number> {
  const { session, service, stack } = context;
  const holders = await service.locks(stack);
  session.emit({ type: "locks", holders });
  for (const holder of holders) session.progress.note(`Stack '${stack}' is locked by ${holder}.`);
  if (holders.length > 0 && !yes)
    await requireTypedWords(session, {
      question: "If it still runs, it loses the lock. Type the stack's name to remove the lock: ",
      words: [stack],
      what: "the stack's name",
      purpose: "you want to remove its lock",
    });
  const removed =
    holders.length === 0
      ? []
      : await followOperation(context, service.start("unlock", stack, { holders }));
  session.print(
    removed.length === 0
      ? `Stack '${stack}' is not locked.`
      : `Removed the lock of ${removed.join(" and of ")}.`,
  );
  session.emit({ type: "result", ok: true, removed });
  return 0;
}

export function runUnlockCommand(
  session: CommandSession,
  { yes, ...options }: Options,
): Promise<number> {
  requireConfirmable(session, "unlock", yes);
  return withStack(session, options, (context) => unlockStack(context, yes));
}
