import { Failure } from "../../../base/failures/failure.js";
import { renderVerificationTables } from "../../render/cluster-report.js";
import { formatTable } from "../../../base/terminal/table.js";
import { renderClusterLine } from "../../render/cluster-line.js";
import { withStack, type StackOptions } from "../stack-context.js";
import { createErrorEvent, type CommandSession } from "../../../base/terminal/session.js";

const broken = (): Failure =>
  new Failure(
    "VERIFY_FAILED",
    "The cluster was created, but not everything in it works.",
    "The entries of `cloudProblems`, those of `nodes` that are not `ready`, and those of `machines`, `addons`, `services` and `claims` that are not `ok`, say what fails.",
  );

export function runStatusCommand(session: CommandSession, options: StackOptions): Promise<number> {
  return withStack(session, options, async ({ service, stack }) => {
    const status = await service.status(stack, { signal: session.signal });
    const { cluster, warnings, cloudProblems, machines: servers, problem, verification } = status;
    const rows = servers.map(({ name, role, zone, server }) => [name, role, zone, server]);
    const lines = [...cloudProblems, ...warnings].map((text) => `! ${text}`);
    const head = [renderClusterLine(cluster), ...lines, ""];
    session.print(head.join("\n"));
    session.print(formatTable(["MACHINE", "ROLE", "ZONE", "SERVER"], rows));
    const ok = verification?.ok === true && cloudProblems.length === 0;
    const seen = { type: "result", ok, stack, ...cluster, warnings, cloudProblems, servers };
    session.emit({ ...seen, ...verification, ok });
    if (problem) throw problem;
    session.print(`\n${renderVerificationTables(verification).join("\n\n")}`);
    if (ok) return 0;
    // The tables have already shown the problems, so only the JSON output gets the error.
    session.emit(createErrorEvent(broken()));
    return broken().exitCode;
  });
}
