import type { Command } from "commander";
import { table } from "../render/table.js";
import { standInsByDefault } from "../setup/environment.js";
import { runCommand } from "./session.js";

export function registerToolchain(program: Command): void {
  program
    .command("toolchain")
    .description("find or make the Pulumi CLI and its plugins; show what was taken and why")
    .action(async (_options, command: Command) => {
      await runCommand(command, async (session) => {
        const { ensureToolchain } = await import("../../toolchain/toolchain.js");
        const { progress, signal } = session;
        const standIns = standInsByDefault(process.env);
        const { pieces, environment } = await ensureToolchain({ progress, signal, standIns });
        session.print(
          table(
            ["PIECE", "VERSION", "ORIGIN", "WHY", "PATH"],
            pieces.map(({ name, version, origin, why, path }) => [
              name,
              version,
              origin,
              why,
              path,
            ]),
          ),
        );
        session.emit({ type: "result", ok: true, pieces, environment });
        return 0;
      });
    });
}
