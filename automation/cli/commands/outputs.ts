import { withStack, type StackOptions } from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly showSecrets: boolean;
}

export function runOutputsCommand(
  session: CommandSession,
  { showSecrets, ...options }: Options,
): Promise<number> {
  return withStack(session, options, async ({ service, stack }) => {
    const outputs = await service.outputs(stack, {
      secrets: showSecrets ? "in clear" : "hidden",
    });
    session.printData(JSON.stringify(outputs, undefined, 2));
    session.emit({ type: "result", ok: true, outputs });
    return 0;
  });
}
