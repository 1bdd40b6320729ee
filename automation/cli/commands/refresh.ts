import { Failure } from "../../../base/failures/failure.js";
import { followOperation, withStack, type StackOptions } from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly expectNoChanges: boolean;
}

export function runRefreshCommand(session: CommandSession, options: Options): Promise<number> {
  return withStack(session, options, async (context) => {
    const { stack } = context;
    const { changed } = await followOperation(context, context.service.start("refresh", stack));
    session.print(
      changed === 0
        ? "No resource differed from the state."
        : `${changed} resources differed from the state.`,
    );
    const ok = changed === 0 || !options.expectNoChanges;
    session.emit({ type: "result", ok, changed });
    if (!ok)
      throw new Failure(
        "UNEXPECTED_CHANGES",
        `${changed} resources of '${stack}' differed from the state; the state now matches the cloud.`,
      );
    return 0;
  });
}
