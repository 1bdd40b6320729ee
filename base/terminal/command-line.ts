import type { Command, CommanderError } from "commander";
import { Failure } from "../failures/failure.js";
import { createRedactor } from "./redact-secrets.js";
import { toFailure, createErrorEvent, formatFailure, formatRedactedJson } from "./session.js";

/** Returns whether the arguments contain `--json`. Works even if the arguments are invalid. */
const isForPrograms = (args: readonly string[]): boolean => args.includes("--json");

/** Reports an error that no command has reported: as text, or with `--json` as a JSON line. */
function fail(error: unknown, args: readonly string[]): void {
  const known = toFailure(error);
  const redactor = createRedactor(process.env);
  if (isForPrograms(args))
    process.stdout.write(`${formatRedactedJson(createErrorEvent(known), redactor)}\n`);
  else process.stderr.write(`${redactor.clean(formatFailure(error, known))}\n`);
  process.exitCode = known.exitCode;
}

/** Reports an uncaught exception as one sentence and exits. */
function crash(error: unknown, args: readonly string[]): void {
  // While a Pulumi program runs in this process, Pulumi's listener handles the exception.
  if (process.listenerCount("uncaughtException") > 1) return;
  fail(error, args);
  process.exit();
}

/**
 * Returns the failure for wrong usage, with the text from Commander. Commander reports a missing
 * command as `commander.help`.
 */
function misuse({ code, message }: CommanderError): Failure {
  if (code === "commander.help") return new Failure("INVALID_USAGE", "No command is named.");
  const sentence = message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Failure("INVALID_USAGE", `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
}

async function parse(program: Command, args: readonly string[]): Promise<void> {
  // A closed pipe (`| head`) or a closed terminal must not stop an operation.
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
      // Commander uses exit code 0 for help and version. Everything else is wrong usage.
      if (error.exitCode === 0) process.exit(0);
      // Commander has already printed the text for the user.
      if (isForPrograms(args)) fail(misuse(error), args);
      process.exit(2);
    });
    if (isForPrograms(args)) command.configureOutput({ writeErr: () => undefined });
  }
  await program.parseAsync(args, { from: "user" });
}

/**
 * Builds the command line and runs it. Sets the process's exit code, and reports every error as a
 * sentence.
 */
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
