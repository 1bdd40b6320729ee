import type { Command, CommanderError } from "commander";
import { Failure } from "../../base/failure.js";
import { redactorFor } from "../cluster/redact.js";
import { asClusterError, errorLine, failureText, jsonLine } from "./session.js";

/** A program reads what these words begin, also when they are not understood. */
const isForPrograms = (args: readonly string[]): boolean => args.includes("--json");

/** Says what went wrong outside of a command: to programs as a line of JSON. */
function fail(error: unknown, args: readonly string[]): void {
  const known = asClusterError(error);
  const redactor = redactorFor(process.env);
  if (isForPrograms(args)) process.stdout.write(`${jsonLine(errorLine(known), redactor)}\n`);
  else process.stderr.write(`${redactor.clean(failureText(error, known))}\n`);
  process.exitCode = known.exitCode;
}

/** What Node does with an error that nobody catches, but with a sentence. */
function crash(error: unknown, args: readonly string[]): void {
  // While a program of Pulumi runs in this process, Pulumi listens too and decides.
  if (process.listenerCount("uncaughtException") > 1) return;
  fail(error, args);
  process.exit();
}

/** A mistake in using the command line, in the words of Commander, which shows help where there is no command at all. */
function misuse({ code, message }: CommanderError): Failure {
  if (code === "commander.help") return new Failure("INVALID_USAGE", "No command is named.");
  const said = message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Failure("INVALID_USAGE", `${said.charAt(0).toUpperCase()}${said.slice(1)}.`);
}

async function parse(program: Command, args: readonly string[]): Promise<void> {
  // A reader that has seen enough (`| head`) stops no operation, nor does a terminal that was closed.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
    });
  for (const command of [
    program,
    ...program.commands,
    ...program.commands.flatMap((one) => one.commands),
  ]) {
    command.exitOverride((error) => {
      // Commander ends help and version with 0 and everything else is usage.
      if (error.exitCode === 0) process.exit(0);
      // People have read it already.
      if (isForPrograms(args)) fail(misuse(error), args);
      process.exit(2);
    });
    if (isForPrograms(args)) command.configureOutput({ writeErr: () => undefined });
  }
  await program.parseAsync(args, { from: "user" });
}

/** Makes the command line of this process and runs it: its exit code is the process's, every error a sentence. */
export async function runCommandLine(build: () => Command, args: readonly string[]): Promise<void> {
  process.on("uncaughtException", (error: unknown) => {
    crash(error, args);
  });
  try {
    await parse(build(), args);
  } catch (error) {
    fail(error, args);
  }
}
