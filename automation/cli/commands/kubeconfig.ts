import { withStack, type StackOptions } from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly print: boolean;
}

export function runKubeconfigCommand(
  session: CommandSession,
  { print, ...options }: Options,
): Promise<number> {
  return withStack(session, options, async ({ service, stack }) => {
    if (print) {
      const kubeconfig = await service.kubeconfig(stack);
      session.printData(kubeconfig.trimEnd());
      session.emit({ type: "result", ok: true, kubeconfig });
    } else {
      const path = await service.kubeconfigFile(stack);
      session.printData(path);
      session.emit({ type: "result", ok: true, path });
    }
    return 0;
  });
}
