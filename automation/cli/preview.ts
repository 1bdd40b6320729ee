import type { Command } from "commander";
import { table } from "../render/table.js";
import { introduced, stops, withStack } from "./context.js";
import { runCommand } from "./session.js";

export function registerPreview(program: Command): void {
  program
    .command("preview")
    .description("show what `up` would do; changes nothing")
    .option("--refresh", "read the real state of the cloud first", false)
    .action(async (_options, command: Command) => {
      const { stack, refresh } = command.optsWithGlobals<{ stack: string; refresh: boolean }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async (context) => {
          const step = session.progress.step("Work out the plan", 15);
          const { plan } = await context.service
            .preview(stack, {
              refresh,
              ...stops(context),
              ...introduced(context),
              onEvent: (event) => {
                session.emit({ type: "event", event });
                if (event.type === "started") step.update(event.change.name);
              },
              onNote: (text) => {
                session.progress.note(session.redactor.clean(text));
              },
            })
            .catch((error: unknown) => {
              step.failed();
              throw error;
            });
          step.done();
          session.print(
            plan.length === 0
              ? "No changes."
              : table(
                  ["OPERATION", "TYPE", "NAME"],
                  plan.map(({ operation, type, name }) => [operation, type, name]),
                ),
          );
          session.emit({ type: "result", ok: true, plan });
          return 0;
        }),
      );
    });
}
