import type { Command } from "commander";
import { redactorFor } from "../cluster/redact.js";
import { asClusterError, failureText } from "./session.js";

/** Says what went wrong outside of a command. */
function fail(error: unknown): void {
  const known = asClusterError(error);
  process.stderr.write(`${redactorFor(process.env).clean(failureText(error, known))}\n`);
  process.exitCode = known.exitCode;
}

/** What Node does with an error that nobody catches, but with a sentence. */
function crash(error: unknown): void {
  // While a program of Pulumi runs in this process, Pulumi listens too and decides.
  if (process.listenerCount("uncaughtException") > 1) return;
  fail(error);
  process.exit();
}

async function parse(program: Command, args: readonly string[]): Promise<void> {
  // A reader that has seen enough (`| head`) stops no operation.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  for (const command of [
    program,
    ...program.commands,
    ...program.commands.flatMap((one) => one.commands),
  ])
    command.exitOverride((error) => {
      // Commander ends help and version with 0 and everything else is usage.
      process.exit(error.exitCode === 0 ? 0 : 2);
    });
  await program.parseAsync(args, { from: "user" });
}

/** Makes the command line of this process and runs it: its exit code is the process's, every error a sentence. */
export async function runCommandLine(build: () => Command, args: readonly string[]): Promise<void> {
  process.on("uncaughtException", crash);
  try {
    await parse(build(), args);
  } catch (error) {
    fail(error);
  }
}
