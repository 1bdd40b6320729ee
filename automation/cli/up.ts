import { bringUp, type BringUpOptions } from "./bring-up.js";
import { withStack } from "./context.js";
import type { Session, StackOptions } from "./session.js";

type Options = StackOptions & Pick<BringUpOptions, "refresh" | "force" | "expectNoChanges">;

export async function up(session: Session, { stack, ...options }: Options): Promise<number> {
  const { refresh, force, expectNoChanges } = options;
  await withStack(session, stack, (context) =>
    bringUp(context, { refresh, force, expectNoChanges }),
  );
  return 0;
}
