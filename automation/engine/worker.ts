import { once } from "node:events";
import { pathToFileURL } from "node:url";
import {
  CommandError,
  ConcurrentUpdateError,
  LocalWorkspace,
  PulumiCommand,
  Stack,
  StackNotFoundError,
  type PulumiFn,
} from "@pulumi/pulumi/automation";
import { runtime } from "@pulumi/pulumi";
import { recordStartedEngines } from "../pulumi/lock-holders.js";
import { decodeEvent } from "../pulumi/events.js";
import { previewBeforeUpdate, withoutResult } from "../pulumi/pulumi-internals.js";
import {
  loadSchema,
  placeSchema,
  replySchema,
  requestSchema,
  type OperationRequest,
  type PlaceMessage,
  type Reply,
} from "./worker-messages.js";

/*
 * Child process in which one operation runs: the engine, and our program inline. The SDK's handlers
 * for uncaught exceptions affect a whole process, and a terminal's Ctrl-C a whole process group: a
 * separate process limits both. See docs/decisions/0010-one-process-per-operation.md.
 */

const send = (reply: Reply): void => {
  if (process.connected) process.send?.(reply);
};

/**
 * Returns the program that a module exports, as `pulumi up` does: the module's export itself, or
 * its default export.
 */
async function loadProgram(path: string): Promise<PulumiFn> {
  let exported = (await import(pathToFileURL(path).href)) as unknown;
  // A CommonJS module is the default of a namespace; a TypeScript default is one level deeper.
  for (let depth = 0; depth < 3 && typeof exported !== "function"; depth += 1)
    exported = (exported as { default?: unknown } | undefined)?.default;
  if (typeof exported !== "function") throw new Error(`${path} does not export a program function`);
  return exported as PulumiFn;
}

/** Program for operations that need only the state: the engine does not run it. */
const noProgram: PulumiFn = () => Promise.reject(new Error("This operation runs no program."));

let command: Promise<PulumiCommand> | undefined;

/** Returns the engine in the PATH; asks it for its version once. */
const pulumiCommand = (): Promise<PulumiCommand> => (command ??= PulumiCommand.get());

/** Selects the stack; creates the stack for an operation that may be its first. */
async function openStack(
  { operation, stack: name, workDirectory }: OperationRequest,
  program: PulumiFn,
): Promise<Stack> {
  const workspace = await LocalWorkspace.create({
    workDir: workDirectory,
    program,
    pulumiCommand: await pulumiCommand(),
  });
  const stack = await (operation === "destroy" || operation === "hold"
    ? Stack.select(name, workspace)
    : Stack.createOrSelect(name, workspace));
  withoutResult(stack);
  return stack;
}

/**
 * Makes the engine hold the backend's lock until the signal. An `up` takes the lock before its
 * preview. A program that fails in the preview ends the `up` there: no state, no pending operation
 * and no history is written (docs/decisions/0019-repair.md).
 */
async function hold(request: OperationRequest, signal: AbortSignal): Promise<Reply> {
  const program: PulumiFn = async () => {
    if (!runtime.isDryRun()) throw new Error("This engine does not look before it acts.");
    send({ type: "held" });
    if (!signal.aborted) await once(signal, "abort");
    throw new Error("The lock is released.");
  };
  const stack = await openStack(request, program);
  previewBeforeUpdate(stack);
  // Ignores requests that fail because the engine ends.
  process.on("unhandledRejection", () => undefined);
  try {
    await stack.up({ color: "never" });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { type: "done" };
}

async function perform(request: OperationRequest, signal: AbortSignal): Promise<Reply> {
  if (request.operation === "hold") return hold(request, signal);
  const { operation } = request;
  const runs = operation === "up" || operation === "preview";
  // Load the program first: its errors are then reported without starting an engine.
  const program = runs ? await loadProgram(request.program) : noProgram;
  const stack = await openStack(request, program);
  // The SDK reacts only to a stop during its run: an earlier stop would be lost.
  signal.throwIfAborted();
  const options = {
    signal,
    color: "never" as const,
    parallel: request.parallel,
    // Decoded here: the engine's events contain all inputs of a resource, which the parent does not
    // need.
    onEvent: (event: unknown) => {
      send({ type: "event", event: decodeEvent(event) });
    },
  };
  switch (operation) {
    case "up":
      await stack.up({
        ...options,
        refresh: request.refresh,
        expectNoChanges: request.expectNoChanges,
      });
      return { type: "done" };
    case "preview":
      await stack.preview({ ...options, refresh: request.refresh, exclude: request.exclude });
      return { type: "done" };
    case "refresh":
      await stack.refresh({ ...options, exclude: request.exclude, target: request.target });
      return { type: "done" };
    case "destroy":
      await stack.destroy({
        ...options,
        refresh: request.refresh,
        ...(request.target ? { target: request.target, targetDependents: true } : { remove: true }),
      });
      return { type: "done" };
  }
}

function failure(error: unknown): Reply {
  const text = error instanceof Error ? error.message : String(error);
  const kind =
    error instanceof ConcurrentUpdateError
      ? "locked"
      : error instanceof StackNotFoundError
        ? "not-found"
        : error instanceof CommandError && /SIGKILL|SIGTERM|was killed/.test(text)
          ? "killed"
          : "error";
  return { type: "failed", kind, text };
}

async function serve(request: OperationRequest): Promise<void> {
  const cancel = new AbortController();
  const abort = (): void => {
    cancel.abort();
  };
  process.on("message", abort);
  // The parent has ended: stop gracefully.
  process.on("disconnect", abort);
  // A SIGINT to the process group is for the engine, which ends at once on a second SIGINT.
  process.on("SIGINT", () => undefined);
  // A preview takes no lock.
  const forget =
    request.operation === "preview" ? undefined : recordStartedEngines(request.workDirectory);
  const reply = await perform(request, cancel.signal).catch(failure);
  // A failed engine may keep its lock; an engine that was refused the lock has none.
  if (reply.type === "done" || (reply.type === "failed" && reply.kind === "locked")) forget?.();
  send(replySchema.parse(reply));
  process.removeAllListeners("disconnect");
  if (process.connected) process.disconnect();
}

/**
 * Sets the environment and directory of the operation, which were unknown when the process started.
 */
function applyPlace({ env, cwd }: PlaceMessage): void {
  for (const name of Object.keys(process.env))
    if (env[name] === undefined) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.chdir(cwd);
}

function begin(message: unknown): void {
  const place = placeSchema.safeParse(message);
  if (place.success) {
    applyPlace(place.data);
    process.once("message", begin);
    return;
  }
  const early = loadSchema.safeParse(message);
  if (!early.success) {
    void serve(requestSchema.parse(message));
    return;
  }
  // The parent has ended without an operation: exit, even if the program keeps handles open.
  const leave = (): never => process.exit(0);
  process.once("disconnect", leave);
  process.once("message", (request) => {
    process.off("disconnect", leave);
    void serve(requestSchema.parse(request));
  });
  const { program } = early.data;
  // Errors of the program are reported when the operation loads it again.
  if (program !== undefined) void loadProgram(program).catch(() => undefined);
  void pulumiCommand().catch(() => undefined);
}

process.once("message", begin);
