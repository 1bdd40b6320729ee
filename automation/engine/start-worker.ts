import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { getEngineEnvironment } from "../pulumi/engine-environment.js";
import type { EnvironmentMessage } from "./worker-messages.js";

/** Environment and current directory of an operation's process. */
export interface WorkerEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** Current directory of the program. */
  readonly cwd: string;
}

/**
 * Returns the worker's module: the compiled file if it exists, or else the TypeScript file with its
 * loader.
 */
function workerModule(): { readonly file: string; readonly execArgv: string[] } {
  const compiled = join(__dirname, "worker.js");
  if (existsSync(compiled)) return { file: compiled, execArgv: [] };
  // The worker's current directory is the project, which may not contain the loader. So the path of
  // the loader is absolute.
  const loader = pathToFileURL(require.resolve("tsx")).href;
  return { file: join(__dirname, "worker.ts"), execArgv: ["--import", loader] };
}

function forkWorker({ env, cwd }: WorkerEnvironment): ChildProcess {
  const { file, execArgv } = workerModule();
  return fork(file, [], {
    cwd,
    env,
    execArgv,
    // The worker has its own process group, so that the terminal's Ctrl-C does not reach the engine
    // a second time.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

let early: ChildProcess | undefined;

/**
 * Starts the process of the next operation early. The process loads Pulumi's SDK while the command
 * loads its own modules. In an `up` with nothing to do, the early start saves 0.6 s of 3.4 s
 * (packages/bench/README.md). Returns a function that kills the process if no operation used it.
 */
export function startWorkerEarly(): () => void {
  const child = forkWorker({ env: getEngineEnvironment(process.env), cwd: process.cwd() });
  // If this process cannot start, the operation starts a new process and reports the error.
  child.on("error", () => undefined);
  early?.kill("SIGKILL");
  early = child;
  return () => {
    if (early !== child) return;
    early = undefined;
    child.kill("SIGKILL");
  };
}

/**
 * Returns the process of an operation. Sends the environment and the directory to a process that
 * was started early. Starts a new process if no process was started early.
 */
export function startWorker(environment: WorkerEnvironment): ChildProcess {
  const begun = early;
  early = undefined;
  if (begun?.connected !== true) return forkWorker(environment);
  const { env, cwd } = environment;
  begun.send({ type: "place", env, cwd } satisfies EnvironmentMessage, () => undefined);
  return begun;
}
