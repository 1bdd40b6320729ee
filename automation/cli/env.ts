import type { Command } from "commander";
import { prepareSurroundings } from "../setup/surroundings.js";
import { runCommand } from "./session.js";

/** `value` as one word of a POSIX shell. */
export const shellWord = (value: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

/** Lines that a shell evaluates. */
export const exportLines = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join("\n");

export function registerEnv(program: Command): void {
  program
    .command("env")
    .description('print the variables under which plain `pulumi` works: eval "$(npx stackadm env)"')
    .addHelpText(
      "after",
      "\nThe login key is the running ssh-agent's. When there is none, start one first and add our key:\n" +
        '  eval "$(ssh-agent)"; ssh-add ~/.local/state/stackadm/ssh/id_ed25519',
    )
    .action(async (_options, command: Command) => {
      await runCommand(command, async (session) => {
        const { progress, signal } = session;
        const surroundings = await prepareSurroundings({ progress, signal, agent: false });
        const socket = process.env["SSH_AUTH_SOCK"];
        const variables = {
          ...surroundings.changes,
          ...(socket === undefined ? {} : { SSH_AUTH_SOCK: socket }),
        };
        session.print(exportLines(variables));
        session.emit({ type: "result", ok: true, variables });
        return 0;
      });
    });
}
