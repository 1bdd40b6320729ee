import { Failure } from "../../../base/failures/failure.js";
import { reportClusters, stopSignals, withStack } from "../stack-context.js";
import type { Session, StackOptions } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly expectNoChanges: boolean;
}

export function refresh(session: Session, options: Options): Promise<number> {
  return withStack(session, options, async (context) => {
    const { stack } = context;
    const step = session.progress.step(`Read the resources of '${stack}'`, 30);
    const { changed } = await context.service
      .refresh(stack, {
        ...stopSignals(context),
        ...reportClusters(context),
        onEvent: (event) => {
          session.emit({ type: "event", event });
        },
        onNote: (text) => {
          session.progress.note(session.redactor.clean(text));
        },
      })
      .catch((error: unknown) => {
        step.failed();
        throw error;
      });
    step.done(changed === 0 ? "nothing differs" : `${changed} differ`);
    const ok = changed === 0 || !options.expectNoChanges;
    session.emit({ type: "result", ok, changed });
    if (!ok)
      throw new Failure(
        "UNEXPECTED_CHANGES",
        `${changed} resources of '${stack}' differed from the state; the state now matches what exists.`,
      );
    return 0;
  });
}
