import type { Command } from "commander";
import { connectCloud } from "../../cloud/client.js";
import { deleteOrphans, findOrphans } from "../../cloud/orphans.js";
import { withStep } from "../progress.js";
import { table } from "../render/table.js";
import { cloudEnvironment } from "../setup/surroundings.js";
import { runCommand } from "./session.js";

interface Options {
  readonly stack: string;
  readonly cluster?: string;
  readonly delete: boolean;
}

export function registerOrphans(program: Command): void {
  program
    .command("orphans")
    .description("list what carries a cluster's marks in the project: for clusters that are dead")
    .option("--cluster <name>", "the cluster's name (default: the stack's name)")
    .option("--delete", "delete it all; a living cluster does not survive that", false)
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const cluster = options.cluster ?? options.stack;
      await runCommand(command, async (session) => {
        const env = { ...process.env, ...cloudEnvironment(process.env) };
        const cloud = await connectCloud({ env });
        const found = await findOrphans(cloud, cluster);
        session.print(
          found.length === 0
            ? `Nothing in the project carries the marks of cluster '${cluster}'.`
            : table(
                ["KIND", "NAME", "ID", "WHY"],
                found.map(({ kind, name, id, claim }) => [kind, name, id, claim]),
              ),
        );
        if (options.delete && found.length > 0)
          await withStep(session.progress, `Delete ${found.length} objects`, 60, (step) =>
            deleteOrphans(cloud, found, {
              signal: session.signal,
              onDelete: ({ kind, name }) => {
                step.update(`${kind} '${name}'`);
              },
            }),
          );
        session.emit({ type: "result", ok: true, found, deleted: options.delete });
        return 0;
      });
    });
}
