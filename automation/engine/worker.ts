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
import { recordStartedEngines } from "../pulumi/locks/lock-holders.js";
import { decodeEvent } from "../pulumi/events.js";
import { readSecretsProvider } from "../pulumi/workspace.js";
import { enablePreviewBeforeUpdate, disableOperationResults } from "../pulumi/pulumi-internals.js";
import { createHeartbeat, type OwnerHeartbeat } from "./owner-heartbeat.js";
import {
  loadProgramMessageSchema,
  environmentMessageSchema,
  workerReplySchema,
  operationRequestSchema,
  type OperationRequest,
  type EnvironmentMessage,
  type WorkerReply,
} from "./worker-messages.js";

/*
 * Child process that runs one operation: the engine, and our program inline. The SDK's handlers for
 * uncaught exceptions affect their whole process, and Ctrl-C in a terminal affects a whole process
 * group. A separate process limits both effects. See
 * docs/decisions/0010-one-process-per-operation.md.
 */

const send = (reply: WorkerReply): void => {
  if (process.connected) process.send?.(reply);
};

/**
 * Returns the program function that a module exports, by the rules of `pulumi up`: the export
 * itself, or the default export.
 */
async function loadProgram(path: string): Promise<PulumiFn> {
  let exported = (await import(pathToFileURL(path).href)) as unknown;
  // `import` puts a CommonJS module into `default`. A default export of TypeScript is one level
  // deeper.
  for (let depth = 0; depth < 3 && typeof exported !== "function"; depth += 1)
    exported = (exported as { default?: unknown } | undefined)?.default;
  if (typeof exported !== "function") throw new Error(`${path} does not export a program function`);
  return exported as PulumiFn;
}

/** Program for operations that need only the state. The engine does not run this program. */
const noProgram: PulumiFn = () => Promise.reject(new Error("This operation runs no program."));

let command: Promise<PulumiCommand> | undefined;

/** Returns the engine on PATH. Asks for its version only once. */
const pulumiCommand = (): Promise<PulumiCommand> => (command ??= PulumiCommand.get());

/**
 * Selects the stack. Creates the stack for an operation that may be the first one. A new stack gets
 * the secrets provider of its settings.
 */
async function openStack(
  { operation, stack: name, workDirectory }: OperationRequest,
  program: PulumiFn,
): Promise<Stack> {
  const workspace = await LocalWorkspace.create({
    workDir: workDirectory,
    program,
    secretsProvider: readSecretsProvider(workDirectory, name),
    pulumiCommand: await pulumiCommand(),
  });
  const stack = await (operation === "destroy" || operation === "hold"
    ? Stack.select(name, workspace)
    : Stack.createOrSelect(name, workspace));
  disableOperationResults(stack);
  return stack;
}

/**
 * Makes the engine hold the backend's lock until the signal is aborted. An `up` takes the lock
 * before its preview, and this program fails in the preview. The `up` then ends without writing
 * state, pending operations or history (docs/decisions/0019-repair.md).
 */
async function hold(
  request: OperationRequest,
  signal: AbortSignal,
  heartbeat: OwnerHeartbeat | undefined,
): Promise<WorkerReply> {
  // Stops an engine that has not got the lock yet. The program itself stops an engine with the lock.
  const stop = new AbortController();
  const giveUp = (): void => {
    stop.abort();
  };
  signal.addEventListener("abort", giveUp, { once: true });
  const program: PulumiFn = async () => {
    if (!runtime.isDryRun()) throw new Error("This engine does not look before it acts.");
    signal.removeEventListener("abort", giveUp);
    signal.throwIfAborted();
    send({ type: "held" });
    heartbeat?.begin();
    if (!signal.aborted) await once(signal, "abort");
    throw new Error("The lock is released.");
  };
  const stack = await openStack(request, program);
  signal.throwIfAborted();
  enablePreviewBeforeUpdate(stack);
  // If the parent has ended, no engine may take the lock, which the next command needs.
  signal.throwIfAborted();
  // Ignores requests to the engine that fail because the engine is ending.
  process.on("unhandledRejection", () => undefined);
  try {
    await stack.up({ color: "never", signal: stop.signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { type: "done" };
}

async function perform(
  request: OperationRequest,
  signal: AbortSignal,
  heartbeat: OwnerHeartbeat | undefined,
): Promise<WorkerReply> {
  if (request.operation === "hold") return hold(request, signal, heartbeat);
  const { operation } = request;
  const runs = operation === "up" || operation === "preview";
  // Loads the program first, so that its errors are reported without starting an engine.
  const program = runs ? await loadProgram(request.program) : noProgram;
  const stack = await openStack(request, program);
  // The SDK reacts only to an abort during its run. An abort before the run is checked here.
  signal.throwIfAborted();
  const options = {
    signal,
    color: "never" as const,
    parallel: request.parallel,
    // Events are decoded in this process. The engine's events contain all inputs of a resource,
    // which the parent does not need.
    onEvent: (event: unknown) => {
      // The engine sends its first event after it has got the lock.
      heartbeat?.begin();
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
        exclude: request.exclude,
        ...(request.target && { target: request.target, targetDependents: true }),
      });
      if (request.target === undefined && request.exclude === undefined) {
        // A heartbeat during the removal could store its tag again after the stack is removed.
        await heartbeat?.stop();
        await stack.workspace.removeStack(stack.name);
      }
      return { type: "done" };
  }
}

function failure(error: unknown): WorkerReply {
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

/** Kills the engine, its plugins and this process. Sends the reason to the parent first. */
function killGroup(reason: string): void {
  const kill = (): void => {
    process.kill(-process.pid, "SIGKILL");
  };
  const reply: WorkerReply = { type: "failed", kind: "lost", text: reason };
  if (process.connected) process.send?.(reply, undefined, undefined, kill);
  // A parent that does not read its messages must not delay the kill.
  setTimeout(kill, process.connected ? 1_000 : 0);
}

async function serve(request: OperationRequest): Promise<void> {
  const cancel = new AbortController();
  const abort = (): void => {
    cancel.abort();
  };
  process.on("message", abort);
  // If the parent ends, the operation stops gracefully.
  process.on("disconnect", abort);
  // Ignores SIGINT. run-engine.ts sends SIGINT to the process group, so the engine gets the signal,
  // too. If the worker also stopped the engine, the engine would get a second SIGINT and would be
  // killed.
  process.on("SIGINT", () => undefined);
  // A preview takes no lock, so its engine is not recorded.
  const forget =
    request.operation === "preview" ? undefined : recordStartedEngines(request.workDirectory);
  const reportLease = (at: number | undefined): void => {
    send({ type: "lease", at });
  };
  const heartbeat = createHeartbeat(request, { killEngine: killGroup, reportLease });
  const reply = await perform(request, cancel.signal, heartbeat).catch(failure);
  await heartbeat?.stop();
  // Keeps the record after a failure, because the engine may still hold its lock. Deletes the
  // record if the engine did not get the lock, because the engine then holds no lock.
  if (reply.type === "done" || (reply.type === "failed" && reply.kind === "locked")) forget?.();
  send(workerReplySchema.parse(reply));
  process.removeAllListeners("disconnect");
  // Without a parent, no other process would end a process whose program keeps handles open.
  if (!process.connected) process.exit();
  process.disconnect();
}

/**
 * Sets the environment and the directory of the operation, which were unknown when the process
 * started.
 */
function applyPlace({ env, cwd }: EnvironmentMessage): void {
  for (const name of Object.keys(process.env))
    if (env[name] === undefined) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.chdir(cwd);
}

function begin(message: unknown): void {
  const environment = environmentMessageSchema.safeParse(message);
  if (environment.success) {
    applyPlace(environment.data);
    process.once("message", begin);
    return;
  }
  const early = loadProgramMessageSchema.safeParse(message);
  if (!early.success) {
    void serve(operationRequestSchema.parse(message));
    return;
  }
  // If the parent ends without an operation, the process exits, even if the program keeps handles
  // open.
  const leave = (): never => process.exit(0);
  process.once("disconnect", leave);
  process.once("message", (request) => {
    process.off("disconnect", leave);
    void serve(operationRequestSchema.parse(request));
  });
  const { program } = early.data;
  // Errors are ignored here. The operation loads the program again, and then reports the same
  // errors.
  if (program !== undefined) void loadProgram(program).catch(() => undefined);
  void pulumiCommand().catch(() => undefined);
}

/*
 * If the parent is killed, writes to the standard streams fail. An unhandled error of a stream is an
 * uncaught exception, which the SDK reports on standard error. This report fails in the same way, so
 * the process would never end and would use a whole processor.
 */
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

process.once("message", begin);
