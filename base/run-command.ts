import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { Failure } from "./failures/failure.js";

export interface RunCommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Text for the command's standard input. Default: no input. */
  readonly input?: string;
  /** Called with the PID of the command when its process has started. */
  readonly onStart?: (pid: number) => void;
  /** Called with every line of standard output and standard error. */
  readonly onLine?: (line: string) => void;
  /** Signal to end the command. The command then gets SIGTERM. */
  readonly signal?: AbortSignal;
  /** Time limit in milliseconds. The command then gets SIGTERM. Default: no limit. */
  readonly timeout?: number;
  /** Returns whether a line only reports progress. Such lines are left out of the error message. */
  readonly isProgress?: (line: string) => boolean;
  /** Exit codes that mean success. Default: 0. */
  readonly accept?: readonly number[];
}

export interface RunCommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Number of output lines in the error message of a failed command. */
const shown = 8;

const tail = (text: string, { isProgress = () => false }: RunCommandOptions): string =>
  text
    .trimEnd()
    .split("\n")
    .filter((line) => !isProgress(line))
    .slice(-shown)
    .join("\n");

const tooLate = (command: string, args: readonly string[], timeout = 0): Failure =>
  new Failure(
    "FAILED",
    `'${command} ${args.slice(0, 3).join(" ")}' did not end within ${timeout / 1000} s.`,
  );

/**
 * Returns the error for Node's ENOENT. The code means that either the command or the working
 * directory does not exist.
 */
const missing = (command: string, cwd: string | undefined): Failure =>
  cwd !== undefined && !existsSync(cwd)
    ? new Failure("FAILED", `There is no directory ${cwd} to run '${command}' in.`)
    : new Failure("TOOL_MISSING", `The command '${command}' is not installed.`);

interface EndSignals {
  /** Signal that ends the command. Undefined: the command has no limit. */
  readonly signal: AbortSignal | undefined;
  readonly isLate: () => boolean;
}

function endSignalsOf({ signal, timeout }: RunCommandOptions): EndSignals {
  if (timeout === undefined) return { signal, isLate: () => false };
  const limit = AbortSignal.timeout(timeout);
  return {
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    isLate: () => limit.aborted && signal?.aborted !== true,
  };
}

/**
 * Runs a command without a shell and waits for its end. If the command fails, throws a Failure with
 * the last lines of the output.
 */
export async function run(
  command: string,
  args: readonly string[],
  options: RunCommandOptions = {},
): Promise<RunCommandResult> {
  const { signal: endSignal, isLate } = endSignalsOf(options);
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    signal: endSignal,
  });
  if (child.pid !== undefined) options.onStart?.(child.pid);
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    const stream = child[name];
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      text[name] += line + "\n";
      options.onLine?.(line);
    });
  }
  child.stdin?.on("error", () => undefined).end(options.input);
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (isLate()) reject(tooLate(command, args, options.timeout));
      else reject(error.code === "ENOENT" ? missing(command, options.cwd) : error);
    });
    child.once("close", (exit, signal) => {
      resolve(exit ?? (signal ? 128 : 1));
    });
  });
  if (!(options.accept ?? [0]).includes(code)) {
    const lastLines = tail(text.stderr, options) || tail(text.stdout, options);
    throw new Failure(
      "FAILED",
      `'${command} ${args.slice(0, 3).join(" ")}' ended with code ${code}: ${lastLines}`,
    );
  }
  return { code, ...text };
}
