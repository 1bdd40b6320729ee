import { bringUp, type BringUpOptions } from "./bring-up.js";
import { withStack } from "./context.js";
import type { Session, StackOptions } from "./session.js";

type Options = StackOptions & Pick<BringUpOptions, "refresh" | "force">;

export async function up(session: Session, { stack, refresh, force }: Options): Promise<number> {
  await withStack(session, stack, (context) => bringUp(context, { refresh, force }));
  return 0;
}
