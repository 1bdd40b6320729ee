import { runUp, type RunUpOptions } from "./run-up.js";
import { withStack, type StackOptions } from "../stack-context.js";
import { requirePackageProgram } from "../pulumi-project.js";
import type { CommandSession } from "../../../base/terminal/session.js";

type Options = StackOptions & Pick<RunUpOptions, "refresh" | "force" | "expectNoChanges">;

export async function runUpCommand(session: CommandSession, options: Options): Promise<number> {
  requirePackageProgram("up", options);
  const { refresh, force, expectNoChanges } = options;
  await withStack(session, options, (context) =>
    runUp(context, { refresh, force, expectNoChanges }),
  );
  return 0;
}
