import { withStep } from "../../../base/progress.js";
import { renderRestorePlan } from "../../render/restore-text.js";
import { requireConfirmable, requireTypedWords } from "../confirm.js";
import { createBackupRunOptions, createStackBackupService } from "./backup.js";
import { withStack, type StackOptions } from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly from: string;
  readonly yes: boolean;
}

export function runRestoreCommand(
  session: CommandSession,
  { from, yes, ...options }: Options,
): Promise<number> {
  requireConfirmable(session, "restore", yes);
  return withStack(session, options, async (context) => {
    const { stack } = context;
    const service = createStackBackupService(context);
    const { onCluster, ...run } = createBackupRunOptions(context);
    const plan = await service.restorePlan(stack, {
      ...run,
      ...(onCluster && { onCluster }),
      from,
    });
    session.progress.note(`\n${renderRestorePlan(plan, Date.now())}\n`);
    const { backup, members, unpack, without } = plan;
    if (!yes)
      await requireTypedWords(session, {
        question: "Type the cluster's name to restore it: ",
        words: [backup.cluster],
        what: "the cluster's name",
        purpose: "you want to restore it",
      });
    const notes: string[] = [];
    await withStep(session.progress, `Restore the cluster of '${stack}'`, 90, (step) =>
      service.restore(stack, plan, {
        ...run,
        onNote: (text) => {
          notes.push(text);
          run.onNote?.(text);
        },
        onDetail: (text) => {
          step.update(text);
        },
      }),
    );
    const data = members.length > 0 ? `the data of ${backup.takenAt}` : "the present data of etcd";
    session.print(
      `The Kubernetes API answers with ${data}. Run \`stackadm up --refresh --stack ${stack}\`: it creates the missing machines and objects of the settings again.`,
    );
    session.emit({
      type: "result",
      ok: true,
      stack,
      cluster: backup.cluster,
      takenAt: backup.takenAt,
      members: members.map(({ name }) => name),
      unpacked: unpack.map(({ machine }) => machine.name),
      without: without.map(({ name }) => name),
      notes,
    });
    return 0;
  });
}
