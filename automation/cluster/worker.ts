import { once } from "node:events";
import { pathToFileURL } from "node:url";
import {
  CommandError,
  ConcurrentUpdateError,
  LocalWorkspace,
  PulumiCommand,
  Stack,
  StackAlreadyExistsError,
  StackNotFoundError,
  type PulumiFn,
} from "@pulumi/pulumi/automation";
import { isSecret, output, type Output } from "@pulumi/pulumi";
import { isDryRun } from "@pulumi/pulumi/runtime";
import { parse } from "semver";
import { foundFacts, giveFacts } from "../../components/support/known-facts.js";
import { noteEngines } from "./engine-notes.js";
import { decodeEvent } from "./events.js";
import {
  loadSchema,
  placeSchema,
  replySchema,
  requestSchema,
  type OperationRequest,
  type PlaceMessage,
  type Reply,
} from "./protocol.js";
import { quieten } from "./quiet-sdk.js";
import type { StackOutputs } from "./state.js";

/*
 * The child process in which one operation runs: the engine, and our program inline. The SDK's handlers for
 * uncaught exceptions are process-wide, and a terminal's Ctrl-C reaches every process of the group: here both
 * are contained. See docs/decisions/0010-one-process-per-operation.md.
 */

quieten();

const send = (reply: Reply): void => {
  if (process.connected) process.send?.(reply);
};

/** The program is what the module exports, as `pulumi up` takes it: the function itself, or its default. */
async function loadProgram(path: string): Promise<PulumiFn> {
  let exported = (await import(pathToFileURL(path).href)) as unknown;
  // A CommonJS module arrives as the default of a namespace; a TypeScript default once deeper.
  for (let depth = 0; depth < 3 && typeof exported !== "function"; depth += 1)
    exported = (exported as { default?: unknown } | undefined)?.default;
  if (typeof exported !== "function") throw new Error(`${path} does not export a program function`);
  return exported as PulumiFn;
}

/** What the SDK wants for an operation that only needs the state: the engine does not run it. */
const none: PulumiFn = () => Promise.reject(new Error("This operation runs no program."));

let command: Promise<PulumiCommand> | undefined;

/** The engine that the path leads to: of a known version, or asked for it once. */
const pulumiCommand = (version?: string): Promise<PulumiCommand> =>
  (command ??= ofVersion(version) ?? PulumiCommand.get());

/** The SDK makes one only after it has asked. */
function ofVersion(text?: string): Promise<PulumiCommand> | undefined {
  const version = parse(text);
  if (!version) return undefined;
  return Promise.resolve(Reflect.construct(PulumiCommand, ["pulumi", version]) as PulumiCommand);
}

type Open = (name: string, workspace: LocalWorkspace) => Promise<Stack>;

/** Where there was no such stack a moment ago. Somebody else may have made it since. */
const create: Open = (name, workspace) =>
  Stack.create(name, workspace).catch((error: unknown) => {
    if (error instanceof StackAlreadyExistsError) return Stack.select(name, workspace);
    throw error;
  });

function opening({ operation, exists }: OperationRequest): Open {
  if (operation === "destroy") return (...of) => Stack.select(...of);
  return exists === false ? create : (...of) => Stack.createOrSelect(...of);
}

async function openStack(
  request: OperationRequest,
  program: PulumiFn,
  engine: PulumiCommand,
): Promise<Stack> {
  const workspace = await LocalWorkspace.create({
    workDir: request.workDirectory,
    program,
    pulumiCommand: engine,
  });
  // Selecting is a process of its own, and writes into a file that all stacks of a user share; every command names its stack.
  if (request.exists === true) workspace.selectStack = () => Promise.resolve();
  const stack = await opening(request)(request.stack, workspace);
  // The SDK asks for the history after each operation, by a process of its own; nobody here reads it.
  stack.info = () => Promise.resolve(undefined);
  // And for the outputs, by two: who wants them reads them.
  stack.outputs = () => Promise.resolve({});
  return stack;
}

/** How the SDK calls the engine; its types leave that out. */
interface EngineCalls {
  run(args: readonly string[], ...rest: unknown[]): Promise<unknown>;
}

/** The engine that looks before it acts, which the SDK has it skip. */
function lookingFirst(engine: PulumiCommand): PulumiCommand {
  const calls = engine as PulumiCommand & EngineCalls;
  const run: EngineCalls["run"] = (args, ...rest) =>
    calls.run(
      args.filter((argument) => argument !== "--skip-preview"),
      ...rest,
    );
  return Object.create(engine, { run: { value: run } }) as PulumiCommand;
}

/**
 * Has the engine hold the backend's lock until the signal. An `up` takes the lock before it looks what it would do; a program
 * that fails in that look ends it there: no state, no record of pending operations and no history is written (docs/decisions/0019-repair.md).
 */
async function hold(request: OperationRequest, signal: AbortSignal): Promise<Reply> {
  const program: PulumiFn = async () => {
    if (!isDryRun()) throw new Error("This engine does not look before it acts.");
    send({ type: "held" });
    if (!signal.aborted) await once(signal, "abort");
    throw new Error("The lock is given back.");
  };
  const stack = await openStack(
    request,
    program,
    lookingFirst(await pulumiCommand(request.engineVersion)),
  );
  // What is still asked of an engine that ends.
  process.on("unhandledRejection", () => undefined);
  try {
    await stack.up({ color: "never" });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { type: "done" };
}

function tellFound(): void {
  const found = foundFacts();
  if (found) send({ type: "found", found });
}

/** Values and outputs of them as the engine has them. What holds a secret is one as a whole. */
async function outputsOf(returned: Readonly<Record<string, unknown>>): Promise<StackOutputs> {
  const told = Object.entries(returned).map(async ([name, given]) => {
    const made = output(given as object) as Output<unknown> & { promise(): Promise<unknown> };
    return [name, { value: await made.promise(), secret: await isSecret(made) }] as const;
  });
  // What is undefined is no output.
  const known = (await Promise.all(told)).filter(([, { value }]) => value !== undefined);
  return Object.fromEntries(known);
}

async function perform(request: OperationRequest, signal: AbortSignal): Promise<Reply> {
  if (request.operation === "hold") return hold(request, signal);
  const { operation } = request;
  const runs = operation === "up" || operation === "preview";
  // In this order: what is wrong with the program is said without an engine.
  const program = runs ? await loadProgram(request.program) : none;
  giveFacts(request.known);
  let returned: Readonly<Record<string, unknown>> | undefined;
  const noting: PulumiFn = async () => (returned = (await program()) ?? {});
  const stack = await openStack(request, noting, await pulumiCommand(request.engineVersion));
  // The SDK notices only what comes while the engine runs: a stop that was asked for earlier would be lost.
  signal.throwIfAborted();
  const options = {
    signal,
    color: "never" as const,
    parallel: request.parallel,
    // Decoded here: what the engine says of a resource has all that was given to it, and of that nothing is wanted.
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
      tellFound();
      if (request.tellsOutputs === true && returned) {
        // Otherwise they are read.
        const outputs = await outputsOf(returned).catch(() => undefined);
        if (outputs) send({ type: "outputs", outputs });
      }
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
  // The parent is gone: nobody waits for the result, so stop in good order.
  process.on("disconnect", abort);
  // A SIGINT to the group is meant for the engine: the second one makes it end at once.
  process.on("SIGINT", () => undefined);
  // A preview takes no lock.
  const forget = request.operation === "preview" ? undefined : noteEngines(request.workDirectory);
  const reply = await perform(request, cancel.signal).catch(failure);
  // An engine that fails may keep its lock; one that was refused has none.
  if (reply.type === "done" || (reply.type === "failed" && reply.kind === "locked")) forget?.();
  send(replySchema.parse(reply));
  process.removeAllListeners("disconnect");
  if (process.connected) process.disconnect();
}

/** Begun before it was known in what. */
function moveTo({ env, cwd }: PlaceMessage): void {
  for (const name of Object.keys(process.env))
    if (env[name] === undefined) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.chdir(cwd);
}

function begin(message: unknown): void {
  const place = placeSchema.safeParse(message);
  if (place.success) {
    moveTo(place.data);
    process.once("message", begin);
    return;
  }
  const early = loadSchema.safeParse(message);
  if (!early.success) {
    void serve(requestSchema.parse(message));
    return;
  }
  // Nobody will ask for an operation any more, whatever the program holds open.
  const leave = (): never => process.exit(0);
  process.once("disconnect", leave);
  process.once("message", (request) => {
    process.off("disconnect", leave);
    void serve(requestSchema.parse(request));
  });
  const { program, engineVersion } = early.data;
  // What is wrong with the program is said when it is wanted.
  if (program !== undefined) void loadProgram(program).catch(() => undefined);
  void pulumiCommand(engineVersion).catch(() => undefined);
}

process.once("message", begin);
