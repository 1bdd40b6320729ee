/** Implements `command:local:Command`: one command on this host at create, update and delete. */
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import type { ResourceOperation } from "./context.js";
import type { LocalCommandInputs } from "./inputs.js";
import { OutputCollector, createCommandError } from "./output.js";
import type { CommandOutput } from "./remote-command.js";
import { getErrorCode } from "./ssh-errors.js";

/**
 * Runs `command` with the interpreter (default `/bin/sh -c`). The working directory is `dir`, or
 * the program's directory if `dir` is not set.
 */
export async function runLocal(
  command: string,
  inputs: LocalCommandInputs,
  operation: ResourceOperation,
  env: NodeJS.ProcessEnv,
): Promise<CommandOutput> {
  operation.signal.throwIfAborted();
  const output = new OutputCollector(inputs.logging, (line) => {
    operation.status(line);
  });
  const failed = await runToEnd(command, inputs, { operation, output, env });
  if (failed !== undefined) throw createCommandError(failed, command, output);
  return { stdout: output.of("stdout"), stderr: output.of("stderr") };
}

interface Running {
  readonly operation: ResourceOperation;
  readonly output: OutputCollector;
  readonly env: NodeJS.ProcessEnv;
}

/** Returns the reason why the command failed, or undefined if it succeeded. */
function runToEnd(
  command: string,
  inputs: LocalCommandInputs,
  { operation, output, env }: Running,
): Promise<string | undefined> {
  const { dir } = inputs;
  const [program = "/bin/sh", ...args] =
    inputs.interpreter.length > 0 ? inputs.interpreter : ["/bin/sh", "-c"];
  const missing = dir !== undefined && !isDirectory(dir);
  if (missing) return Promise.resolve(`chdir ${dir}: no such file or directory`);
  return new Promise((resolve) => {
    const child = spawn(program, [...args, command], {
      cwd: dir,
      env: { ...env, ...inputs.environment, ...previousOutput(inputs) },
      stdio: ["pipe", "pipe", "pipe"],
      signal: operation.signal,
      killSignal: "SIGKILL",
    });
    child.stdout.on("data", (data: Buffer) => {
      output.add("stdout", data);
    });
    child.stderr.on("data", (data: Buffer) => {
      output.add("stderr", data);
    });
    // A command may exit before it has read all of its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(inputs.stdin);
    child.on("error", (error) => {
      if (getErrorCode(error) === "ABORT_ERR") return;
      resolve(startText(program, error));
    });
    child.once("close", (code, signal) => {
      output.end();
      resolve(exitText(code, signal));
    });
  });
}

function previousOutput(inputs: LocalCommandInputs): Record<string, string> {
  if (!inputs.addPreviousOutputInEnv) return {};
  return {
    ...(inputs.stdout !== "" && { PULUMI_COMMAND_STDOUT: inputs.stdout }),
    ...(inputs.stderr !== "" && { PULUMI_COMMAND_STDERR: inputs.stderr }),
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function startText(program: string, error: Error): string {
  const code = getErrorCode(error);
  const reason =
    code === "ENOENT"
      ? "no such file or directory"
      : code === "EACCES"
        ? "permission denied"
        : code === "E2BIG"
          ? "argument list too long"
          : error.message;
  if (!program.includes("/") && code === "ENOENT") {
    return `exec: "${program}": executable file not found in $PATH`;
  }
  return `fork/exec ${program}: ${reason}`;
}

/** Names of signals as Go prints them. */
const signalNames: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGHUP: "hangup",
  SIGINT: "interrupt",
  SIGQUIT: "quit",
  SIGABRT: "aborted",
  SIGKILL: "killed",
  SIGSEGV: "segmentation fault",
  SIGPIPE: "broken pipe",
  SIGTERM: "terminated",
};

function exitText(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (code === 0) return undefined;
  if (code !== null) return `exit status ${code}`;
  if (signal === null) return "exit status unknown";
  return `signal: ${signalNames[signal] ?? `signal ${constants.signals[signal]}`}`;
}
