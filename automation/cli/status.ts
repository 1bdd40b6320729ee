import { tablesOf } from "../render/report.js";
import { table } from "../render/table.js";
import { clusterLine } from "../render/which-cluster.js";
import { withStack } from "./context.js";
import type { Session, StackOptions } from "./session.js";

export function status(session: Session, { stack }: StackOptions): Promise<number> {
  return withStack(session, stack, async ({ service }) => {
    const status = await service.status(stack, { signal: session.signal });
    const servers = status.machines.map((one) => [one.name, one.role, one.zone, one.server]);
    const { cluster, warnings } = status;
    const head = [clusterLine(cluster), ...warnings.map((text) => `! ${text}`), ""];
    session.print(session.redactor.clean(head.join("\n")));
    session.print(table(["MACHINE", "ROLE", "ZONE", "SERVER"], servers));
    if (status.problem) throw status.problem;
    const { verification } = status;
    session.print(`\n${tablesOf(verification).join("\n\n")}`);
    session.emit({ type: "result", stack, ...cluster, warnings, servers, ...verification });
    return verification.ok ? 0 : 1;
  });
}
