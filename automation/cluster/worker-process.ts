import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PlaceMessage } from "./protocol.js";

/** In what an operation runs. */
export interface WorkerPlace {
  readonly env: NodeJS.ProcessEnv;
  /** The current directory of the program. */
  readonly cwd: string;
}

/** The worker beside the running files: compiled when they are, else TypeScript with its loader. */
function workerModule(): { readonly file: string; readonly execArgv: string[] } {
  const compiled = join(__dirname, "worker.js");
  if (existsSync(compiled)) return { file: compiled, execArgv: [] };
  // By path: the worker's current directory is the project's, which need not have the loader.
  const loader = pathToFileURL(require.resolve("tsx")).href;
  return { file: join(__dirname, "worker.ts"), execArgv: ["--import", loader] };
}

function forkWorker({ env, cwd }: WorkerPlace): ChildProcess {
  const { file, execArgv } = workerModule();
  return fork(file, [], {
    ...{ cwd, env, execArgv },
    // A group of its own: the terminal's Ctrl-C must not reach the engine a second time past us.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

let early: ChildProcess | undefined;

/**
 * Begins the process of this process's next operation before anything is known of it: it loads Pulumi's SDK while a command loads
 * what it needs itself. The answer ends it where there was no operation.
 */
export function beginEarly(): () => void {
  const child = forkWorker({ env: process.env, cwd: process.cwd() });
  // Whoever has an operation then begins another.
  child.on("error", () => undefined);
  early?.kill("SIGKILL");
  early = child;
  return () => {
    if (early !== child) return;
    early = undefined;
    child.kill("SIGKILL");
  };
}

/** The process of one operation: the one that was begun early, which is told where it is now, or a new one. */
export function startWorker(place: WorkerPlace): ChildProcess {
  const begun = early;
  early = undefined;
  if (begun?.connected !== true) return forkWorker(place);
  const { env, cwd } = place;
  begun.send({ type: "place", env, cwd } satisfies PlaceMessage, () => undefined);
  return begun;
}
