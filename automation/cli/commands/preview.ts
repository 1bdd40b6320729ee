import { unexpectedChanges } from "../../repair/expect-no-changes.js";
import { table } from "../../../base/terminal/table.js";
import { requireOurProgram } from "../project.js";
import { reportClusters, stopSignals, withStack } from "../stack-context.js";
import type { Session, StackOptions } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly refresh: boolean;
  readonly expectNoChanges: boolean;
}

export function preview(session: Session, options: Options): Promise<number> {
  const { stack, refresh, expectNoChanges } = options;
  requireOurProgram("preview", options);
  return withStack(session, options, async (context) => {
    const step = session.progress.step("Plan the changes", 15);
    const { plan } = await context.service
      .preview(stack, {
        refresh,
        ...stopSignals(context),
        ...reportClusters(context),
        onEvent: (event) => {
          session.emit({ type: "event", event });
          if (event.type === "started") step.update(event.change.name);
        },
        onNote: (text) => {
          session.progress.note(session.redactor.clean(text));
        },
      })
      .catch((error: unknown) => {
        step.failed();
        throw error;
      });
    step.done();
    session.print(
      plan.length === 0
        ? "No changes."
        : table(
            ["OPERATION", "TYPE", "NAME"],
            plan.map(({ operation, type, name }) => [operation, type, name]),
          ),
    );
    const ok = plan.length === 0 || !expectNoChanges;
    session.emit({ type: "result", ok, plan });
    if (!ok) throw unexpectedChanges(plan);
    return 0;
  });
}
