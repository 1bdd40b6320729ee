import { introduced, stops, withStack } from "./context.js";
import type { Session, StackOptions } from "./session.js";

export function refresh(session: Session, { stack }: StackOptions): Promise<number> {
  return withStack(session, stack, async (context) => {
    const step = session.progress.step(`Read the resources of '${stack}'`, 30);
    const { changed } = await context.service
      .refresh(stack, {
        ...stops(context),
        ...introduced(context),
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
    session.emit({ type: "result", ok: true, changed });
    return 0;
  });
}
