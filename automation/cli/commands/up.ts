import { bringUp, type BringUpOptions } from "./run-up.js";
import { withStack, type StackOptions } from "../stack-context.js";
import { requirePackageProgram } from "../pulumi-project.js";
import type { Session } from "../../../base/terminal/session.js";

type Options = StackOptions & Pick<BringUpOptions, "refresh" | "force" | "expectNoChanges">;

export async function upCommand(session: Session, options: Options): Promise<number> {
  requirePackageProgram("up", options);
  const { refresh, force, expectNoChanges } = options;
  await withStack(session, options, (context) =>
    bringUp(context, { refresh, force, expectNoChanges }),
  );
  return 0;
}
