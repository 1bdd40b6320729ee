import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { Failure } from "./failure.js";
import { UserError } from "./user-error.js";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Written to the command's standard input, then closed. */
  readonly input?: string;
  /** Called with the number of the command's process as soon as there is one. */
  readonly onStart?: (pid: number) => void;
  /** Called with every line of standard output and standard error. */
  readonly onLine?: (line: string) => void;
  /** Aborting it ends the command with SIGTERM. */
  readonly signal?: AbortSignal;
  /** Lines that tell of progress and never why a command failed: the error leaves them out. */
  readonly isProgress?: (line: string) => boolean;
  /** Exit codes that are not a failure. Default: 0. */
  readonly accept?: readonly number[];
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How many lines of a command that failed are shown. */
const shown = 8;

const tail = (text: string, { isProgress = () => false }: RunOptions): string =>
  text
    .trimEnd()
    .split("\n")
    .filter((line) => !isProgress(line))
    .slice(-shown)
    .join("\n");

/** Node says ENOENT for a missing command and for a missing directory alike. */
const missing = (command: string, cwd: string | undefined): Failure =>
  cwd !== undefined && !existsSync(cwd)
    ? new UserError(`There is no directory ${cwd} to run '${command}' in.`)
    : new Failure("TOOL_MISSING", `The command '${command}' is not installed.`);

/** Runs a command to its end without a shell. Throws a Failure with the last lines it printed when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    signal: options.signal,
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
      reject(error.code === "ENOENT" ? missing(command, options.cwd) : error);
    });
    child.once("close", (exit, signal) => {
      resolve(exit ?? (signal ? 128 : 1));
    });
  });
  if (!(options.accept ?? [0]).includes(code)) {
    const said = tail(text.stderr, options) || tail(text.stdout, options);
    throw new UserError(
      `'${command} ${args.slice(0, 3).join(" ")}' ended with code ${code}: ${said}`,
    );
  }
  return { code, ...text };
}
