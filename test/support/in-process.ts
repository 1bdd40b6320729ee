import type { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { installed } from "./installed.js";
import { replace } from "./replace.js";

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type Streams = "stdout" | "stderr";

/** Takes what is written to a standard stream. */
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

/** What somebody types; without a person, nothing comes and it is no terminal. */
function type(keys: string | undefined): () => void {
  const stdin = Object.assign(new PassThrough(), { isTTY: keys !== undefined });
  stdin.end(keys);
  return replace(process, "stdin", stdin);
}

/** Gives this process another environment, also where native code reads it (a home directory). */
function enter(env: NodeJS.ProcessEnv, cwd: string): () => void {
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

/** What listens to the process now, so that what a command adds can be taken away again. */
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

/** Ends what a test left behind that was given up while a command ran. */
export const leave = (): void => restore?.();

export interface InProcess {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** What a person types on a terminal; without, there is none. */
  readonly keys?: string;
}

/**
 * Runs the installed command line in this process, as if it was a process of its own: with an environment, a current
 * directory, standard streams and an exit code. One at a time; Ctrl-C is for real processes.
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
    enter(options.env, options.cwd),
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
    leave();
  }
}
