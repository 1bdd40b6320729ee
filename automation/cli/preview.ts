import type { Command } from "commander";
import type { ClusterEvent } from "../cluster/events.js";
import { table } from "../render/table.js";
import { specOf, withStack } from "./context.js";
import { runCommand } from "./session.js";

interface Row {
  readonly operation: string;
  readonly type: string;
  readonly name: string;
}

/** The rows of a plan: what would happen to which resource. */
export function planRows(events: readonly ClusterEvent[]): Row[] {
  return events.flatMap((event) =>
    event.type === "started" && !event.change.urn.includes("::pulumi:providers:")
      ? [{ operation: event.change.operation, type: event.change.type, name: event.change.name }]
      : [],
  );
}

export function registerPreview(program: Command): void {
  program
    .command("preview")
    .description("show what `up` would do; changes nothing")
    .option("--refresh", "read the real state of the cloud first", false)
    .action(async (_options, command: Command) => {
      const { stack, refresh } = command.optsWithGlobals<{ stack: string; refresh: boolean }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async (context) => {
          specOf(context);
          const events: ClusterEvent[] = [];
          const step = session.progress.step("Work out the plan", 15);
          try {
            await context.service.preview(stack, {
              refresh,
              signal: session.signal,
              killSignal: session.killSignal,
              onEvent: (event) => {
                events.push(event);
                session.emit({ type: "event", event });
                if (event.type === "started") step.update(event.change.name);
              },
              onNote: (text) => {
                session.progress.note(session.redactor.clean(text));
              },
            });
          } catch (error) {
            step.failed();
            throw error;
          }
          step.done();
          const rows = planRows(events);
          session.print(
            rows.length === 0
              ? "No changes."
              : table(
                  ["OPERATION", "TYPE", "NAME"],
                  rows.map(({ operation, type, name }) => [operation, type, name]),
                ),
          );
          session.emit({ type: "result", ok: true, plan: rows });
          return 0;
        }),
      );
    });
}
