import { table } from "../render/table.js";
import { withStep } from "../../base/progress.js";
import { lookAtKubectl } from "../setup/kubectl.js";
import { withoutPassword } from "../../base/urls.js";
import { withStack } from "./context.js";
import type { Session, StackOptions } from "./session.js";

export function doctor(session: Session, { stack }: StackOptions): Promise<number> {
  return withStack(session, stack, async (context) => {
    const { environment, service } = context;
    const { kubernetes } = await service.spec(stack);
    const findings = await withStep(session.progress, "Ask the cloud", 3, () =>
      service.preflight(stack),
    );
    const kubectl = await lookAtKubectl(kubernetes.version);
    const facts = [
      ["cloud", environment.env["OS_CLOUD"] ?? environment.env["OS_AUTH_URL"] ?? ""],
      ["backend", withoutPassword(environment.backend)],
      ["login key", environment.agent?.foreign === true ? "of the running ssh-agent" : "our own"],
      ...environment.toolchain.pieces.map(({ name, version, origin }) => [
        name,
        `${version} (${origin})`,
      ]),
      ["kubectl", kubectl.advice ?? kubectl.version ?? ""],
      // Elsewhere the engine would take the lock to tell, and somebody's `up` would be refused meanwhile.
      ...(environment.backend.startsWith("file:") ? await service.locks(stack) : []).map((lock) => [
        "lock",
        lock,
      ]),
    ];
    session.print(table(["WHAT", ""], facts));
    const rows = findings.map(({ severity, text }) => [severity, text]);
    session.print(
      `\n${rows.length === 0 ? "The cluster fits into this cloud." : table(["", "FOUND"], rows)}`,
    );
    const ok = findings.every(({ severity }) => severity === "warning");
    session.emit({ type: "result", ok, findings });
    return ok ? 0 : 3;
  });
}
