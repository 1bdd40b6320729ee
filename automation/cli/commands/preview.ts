import { createUnexpectedChangesError } from "../../repair/expect-no-changes.js";
import { formatTable } from "../../../base/terminal/table.js";
import { requirePackageProgram } from "../pulumi-project.js";
import { followOperation, withStack, type StackOptions } from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly refresh: boolean;
  readonly expectNoChanges: boolean;
}

export function runPreviewCommand(session: CommandSession, options: Options): Promise<number> {
  const { stack, refresh, expectNoChanges } = options;
  requirePackageProgram("preview", options);
  return withStack(session, options, async (context) => {
    const operation = context.service.start("preview", stack, { refresh });
    const { plan } = await followOperation(context, operation);
    session.print(
      plan.length === 0
        ? "No changes."
        : formatTable(
            ["OPERATION", "TYPE", "NAME"],
            plan.map(({ operation, type, name }) => [operation, type, name]),
          ),
    );
    const ok = plan.length === 0 || !expectNoChanges;
    session.emit({ type: "result", ok, plan });
    if (!ok) throw createUnexpectedChangesError(plan);
    return 0;
  });
}
