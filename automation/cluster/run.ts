import type { ChildProcess } from "node:child_process";
import { connectCloud, type CloudClient } from "../../cloud/client.js";
import { providerEnvironment } from "../../cloud/provider-environment.js";
import type { ClusterSpec } from "../../components/spec/cluster-spec.js";
import type { KnownFacts } from "../../components/support/known-facts.js";
import { filesOf } from "../../components/support/operator.js";
import { packageRoot } from "../../base/paths.js";
import { withoutAttributes } from "../setup/backend.js";
import { agentKeys } from "../setup/ssh-agent.js";
import { noteBegin, type Noted } from "./begun.js";
import { ClusterError } from "./cluster-error.js";
import { Spans } from "./critical-path.js";
import { hasPending } from "./earlier-runs.js";
import { prepareWorker, runOperation, type OperationOptions } from "./operation.js";
import type { ClusterEvent } from "./events.js";
import type { ClusterServiceOptions, RunOptions, Stage } from "./options.js";
import type { OperationName, OperationRequest } from "./protocol.js";
import { clusterSpecOf, type SpecSources } from "./spec.js";
import { readState, type StackOutputs, type StateAccess } from "./state.js";
import { endBy } from "./stop.js";
import { UndecidedCreates } from "./undecided.js";
import { rememberUnfinished, Unfinished } from "./unfinished.js";
import {
  prepareWorkspace,
  programModule,
  readStackFile,
  withSettings,
  type WorkspaceOptions,
} from "./workspace.js";

/**
 * Most of them wait for a machine. The engine's own default is four for each processor here, which has nothing to do with how many
 * machines there are; a machine through which others are reached takes 200 connections.
 */
const atOnce = 64;

/** What one run of the engine has besides the options of its request, or instead of them. */
export type OperationFlags = Pick<
  OperationRequest,
  "expectNoChanges" | "exists" | "known" | "exclude" | "refresh" | "target" | "tellsOutputs"
>;

/** One request about one stack: what it works with, and whom it tells. */
export class Run {
  readonly access: StateAccess;
  /** Where the stack's settings are, and where the program runs. */
  readonly directory: string;
  /** Read once: what was checked is what the engine gets. */
  readonly #settings: string;
  #cloud: Promise<CloudClient> | undefined;
  #worker: ChildProcess | undefined;
  /** What the program found in the cloud. */
  found: KnownFacts | undefined;
  /** The stack's outputs, where the package's own program has made them. */
  made: StackOutputs | undefined;
  /** When the request began, in milliseconds since 1970. */
  readonly began = Date.now();
  /** What the engine was making when it failed. */
  readonly undecided = new UndecidedCreates();
  /** When it worked on what. */
  readonly spans = new Spans();

  constructor(
    readonly service: ClusterServiceOptions,
    readonly stack: string,
    readonly options: RunOptions = {},
  ) {
    const { env, projectDirectory } = service;
    this.directory = projectDirectory ?? packageRoot();
    this.#settings = options.settings ?? readStackFile(this.directory, stack);
    this.access = { env, workspace: prepareWorkspace(this.place()) };
  }

  /** Whose private directory it is, and what the settings are. */
  private place(): WorkspaceOptions {
    const { backend, projectDirectory } = this.service;
    return { stack: this.stack, projectDirectory, settings: this.#settings, backend };
  }

  get project(): string {
    return this.access.workspace.project;
  }

  note(text: string): void {
    this.options.onNote?.(text);
  }

  stage(stage: Stage, detail?: string): void {
    this.options.onStage?.(stage, detail);
  }

  /** Signs in once. */
  cloud(): Promise<CloudClient> {
    const onWait = (text: string): void => {
      this.note(text);
    };
    this.#cloud ??= connectCloud({ env: this.service.env, patience: { onWait } });
    return this.#cloud;
  }

  /** Begins what the engine and the questions to the cloud need, while the state is read. Who needs it hears of an error. */
  getReady({ program: runs = true }: { readonly program?: boolean } = {}): void {
    const { program = programModule(), engineVersion } = this.service;
    const load = { program: runs ? program : undefined, engineVersion };
    this.#worker = prepareWorker(load, this.process());
    this.cloud().catch(() => undefined);
  }

  /** The request is over: a process that was begun for nothing ends. */
  close(): void {
    // It has only loaded something. Left to itself it may wait for a thread that ended with us.
    this.#worker?.kill("SIGKILL");
    this.#worker = undefined;
  }

  /** The settings as they are written, and whose they are. */
  sources(): Pick<SpecSources, "project" | "stack" | "settings"> {
    const { project, stack } = this;
    return { project, stack, settings: this.#settings };
  }

  /** The cluster that the settings describe, if wanted with a look at the files that they name; all problems in one error. */
  async spec({ files = false }: { readonly files?: boolean } = {}): Promise<ClusterSpec> {
    const { env } = this.service;
    const socket = env["SSH_AUTH_SOCK"] ?? "";
    return clusterSpecOf({
      ...this.sources(),
      siteFile: env["STACKADM_SITE"],
      agentKeys: socket === "" ? [] : await agentKeys(socket, env),
      ...(files && { files: filesOf(this.service.env, this.directory) }),
    });
  }

  /** Nothing begins after a stop was asked for. */
  requireNotStopped(stop = this.options.signal): void {
    if (stop?.aborted === true) throw endBy(stop);
  }

  /**
   * Does the work while the engine has the backend's lock, of whatever kind the backend is, and changes nothing itself. The work is to
   * end when it is told that the lock is lost, or that a stop was asked for, if nothing else is to stop it.
   */
  async hold<T>(
    work: (signal: AbortSignal) => Promise<T>,
    { stop }: { readonly stop: AbortSignal | undefined } = { stop: this.options.signal },
  ): Promise<T> {
    this.requireNotStopped(stop);
    const { killSignal } = this.options;
    const [done, lost] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([lost.signal, ...(stop ? [stop] : [])]);
    let worked: Promise<T> | undefined;
    const onHeld = (): void => {
      worked = work(signal).finally(() => {
        done.abort();
      });
      // It is told below, when the lock is given back.
      worked.catch(() => undefined);
    };
    const request = { ...this.request("hold"), exists: true };
    await this.operate(
      request,
      { onHeld, onEvent: () => undefined, signal: done.signal, killSignal },
      { stop },
    ).catch(async (error: unknown) => {
      lost.abort(error);
      await worked?.catch(() => undefined);
      throw error;
    });
    if (!worked) throw new Error("The engine ended before it held the stack.");
    return worked;
  }

  private request(operation: OperationRequest["operation"]): OperationRequest {
    const { program = programModule(), engineVersion } = this.service;
    const { stack, project } = this;
    const { directory: workDirectory } = this.access.workspace;
    return { type: "start", operation, stack, project, workDirectory, program, engineVersion };
  }

  /** In what the engine's process runs. */
  private process(): Pick<OperationOptions, "env" | "cwd"> {
    const env = withoutAttributes(providerEnvironment(this.service.env));
    return { env, cwd: this.directory };
  }

  /** One operation in a process of its own, with these settings, whatever another command gives its engine meanwhile. */
  private async operate(
    request: OperationRequest,
    { onEvent, onHeld, ...options }: Omit<OperationOptions, "env" | "cwd">,
    {
      stop,
      worker,
    }: { readonly stop: AbortSignal | undefined; readonly worker?: () => ChildProcess | undefined },
  ): Promise<void> {
    let operation: Promise<void> | undefined;
    await withSettings(this.place(), stop, async () => {
      await new Promise<void>((begun) => {
        // Before it tells anything, the engine has read the settings.
        const after =
          <A extends unknown[]>(tell?: (...told: A) => void) =>
          (...told: A): void => {
            begun();
            tell?.(...told);
          };
        const heard = { onEvent: after(onEvent), onHeld: after(onHeld) };
        operation = runOperation(request, { ...options, ...heard, ...this.process() }, worker?.());
        operation.then(begun, begun);
      });
    });
    await operation;
  }

  /** Runs the engine once; answers whether anything was not as it is to be. */
  async engine(
    operation: OperationName,
    flags: OperationFlags = {},
  ): Promise<{ readonly changed: boolean }> {
    this.requireNotStopped();
    const { onNote, signal, killSignal, refresh } = this.options;
    // The engine reads the variable itself.
    const named = this.service.env["PULUMI_PARALLEL"] ?? "";
    const { parallel = named === "" ? atOnce : undefined } = this.options;
    // Until it has begun, it ends with the request.
    const worker = (): ChildProcess | undefined => {
      const prepared = this.#worker;
      this.#worker = undefined;
      return prepared?.connected === true ? prepared : undefined;
    };
    this.found = flags.known;
    const onFound = (found: KnownFacts): void => {
      this.found = found;
    };
    const onOutputs = (made: StackOutputs): void => {
      this.made = made;
    };
    const tellsOutputs = this.service.program === undefined;
    const noted = operation === "up" ? noteBegin(this.access.workspace) : undefined;
    const unfinished = new Unfinished(operation);
    // Until the engine says that the outputs are the same, too.
    let [touched, same] = [false, false];
    const onEvent = (event: ClusterEvent): void => {
      unfinished.take(event);
      if (event.type === "started") touched = true;
      if (event.type === "outputs") ({ same } = event);
      if (operation === "up") {
        this.undecided.take(event);
        this.spans.take(event, Date.now());
      }
      // What it was to be is for nobody else.
      if (event.type === "failed")
        this.options.onEvent?.({ type: "failed", at: event.at, change: event.change });
      else this.options.onEvent?.(event);
    };
    try {
      await this.operate(
        { ...this.request(operation), refresh, parallel, tellsOutputs, ...flags },
        { onEvent, onFound, onOutputs, onOutput: onNote, signal, killSignal },
        { stop: signal, worker },
      );
      // One that took away a part of a cluster is not its end: it may stay after all.
      await this.remember(unfinished);
      const changed = touched || !same;
      if (changed) noted?.end();
      else noted?.undo();
      return { changed };
    } catch (error) {
      if (noted) await this.noteFailure(noted, { error, touched });
      await this.remember(unfinished);
      throw error;
    }
  }

  /** Has the next `up` run them again. */
  private async remember({ urns }: Unfinished): Promise<void> {
    await rememberUnfinished(this.access, urns).catch((reason: unknown) => {
      this.note(
        `The state does not say which scripts did not come to their end: ${String(reason)}`,
      );
    });
  }

  /** How an `up` that failed is noted: as one that ended only if it left nothing in the making. */
  private async noteFailure(
    noted: Noted,
    { error, touched }: { readonly error: unknown; readonly touched: boolean },
  ): Promise<void> {
    const wasKilled =
      this.options.killSignal?.aborted === true ||
      (error instanceof ClusterError && error.code === "ENGINE_KILLED");
    if (wasKilled) return;
    if (!touched) {
      noted.undo();
      return;
    }
    const state = await readState(this.access).catch(() => undefined);
    if (state && !hasPending(state)) noted.end();
  }
}
