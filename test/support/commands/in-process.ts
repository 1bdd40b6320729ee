import type { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { installed } from "./installed-package.js";
import { replace } from "../replace-property.js";

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type Streams = "stdout" | "stderr";

/**
 * Sends the output to a standard stream of this process to `take`. Returns a function that restores
 * the stream.
 */
function capture(name: Streams, isTTY: boolean, take: (text: string) => void): () => void {
  const stream = process[name];
  const restores = [
    replace(stream, "isTTY", isTTY),
    replace(stream, "write", (part: string | Uint8Array, ...rest: unknown[]) => {
      take(typeof part === "string" ? part : Buffer.from(part).toString());
      const done = rest.find((one) => typeof one === "function") as (() => void) | undefined;
      done?.();
      return true;
    }),
  ];
  return () => {
    for (const restore of restores) restore();
  };
}

/**
 * Replaces standard input by a terminal on which these keys are typed. Without keys, replaces it by
 * an empty stream that is not a terminal.
 */
function type(keys: string | undefined): () => void {
  const stdin = Object.assign(new PassThrough(), { isTTY: keys !== undefined });
  stdin.end(keys);
  return replace(process, "stdin", stdin);
}

/**
 * Replaces the environment and the current directory of this process. Native code also sees the new
 * environment, because it reads the home directory.
 */
function replaceEnvironment(env: NodeJS.ProcessEnv, cwd: string): () => void {
  const set = (wanted: NodeJS.ProcessEnv): void => {
    for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
    for (const [name, value] of Object.entries(wanted))
      if (value !== undefined) process.env[name] = value;
  };
  const before = { env: { ...process.env }, cwd: process.cwd() };
  set(env);
  process.chdir(cwd);
  return () => {
    set(before.env);
    process.chdir(before.cwd);
  };
}

/**
 * Records the process's event listeners. The returned function removes the listeners that were
 * added since.
 */
function listeners(): () => void {
  const events = ["uncaughtException", "exit", "SIGINT", "SIGTERM", "SIGHUP", "error"];
  const all = [process, process.stdout, process.stderr].flatMap((emitter: EventEmitter) =>
    events.map((event) => [emitter, event, emitter.rawListeners(event)] as const),
  );
  return () => {
    for (const [emitter, event, before] of all)
      for (const listener of emitter.rawListeners(event))
        if (!before.includes(listener)) emitter.off(event, listener as () => void);
  };
}

let restore: (() => void) | undefined;

/** Restores the process if a test was aborted while its command ran. */
export const restoreProcess = (): void => restore?.();

export interface InProcess {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Keys that the user types on a terminal. Without keys, there is no terminal. */
  readonly keys?: string;
}

/**
 * Runs the installed command line in this process as if it were a separate process, with its own
 * environment, current directory, standard streams and exit code. Only one command can run at a
 * time. Tests of signals need a real process.
 */
export async function inProcess(args: readonly string[], options: InProcess): Promise<Ended> {
  if (restore) throw new Error("Another command runs in this process.");
  const text = { out: "", err: "" };
  const exited: { code?: number } = {};
  const before = process.exitCode;
  const exitCode = (): number => Number(process.exitCode ?? 0);
  const take = (name: keyof typeof text) => (part: string) => {
    if (exited.code === undefined) text[name] += part;
  };
  const exit = (code?: number): never => {
    exited.code ??= code ?? exitCode();
    throw new Error("The process has ended.");
  };
  const restores = [
    listeners(),
    replaceEnvironment(options.env, options.cwd),
    type(options.keys),
    capture("stdout", false, take("out")),
    capture("stderr", options.keys !== undefined, take("err")),
    replace(process, "exit", exit),
    () => (process.exitCode = before),
  ];
  restore = () => {
    restore = undefined;
    for (const one of restores) one();
  };
  process.exitCode = undefined;
  try {
    await installed().main(args);
    return { code: exited.code ?? exitCode(), ...text };
  } finally {
    restoreProcess();
  }
}
