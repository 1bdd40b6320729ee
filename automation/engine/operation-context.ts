import type { ChildProcess } from "node:child_process";
import { connectCloud, type CloudClient } from "../../openstack/client/cloud-client.js";
import { getProviderEnvironment } from "../../openstack/auth/provider-environment.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { getPinnedFileDirectories } from "../../components/lookup/pinned-files.js";
import { getPackageRoot } from "../../base/paths.js";
import { disableStateAttributes, withBackend } from "../pulumi/backend.js";
import { getEngineEnvironment } from "../pulumi/engine-environment.js";
import { readAgentKeys } from "../setup/ssh-agent.js";
import { recordUpBegin, type UpRecording } from "../pulumi/last-up.js";
import { Failure } from "../../base/failures/failure.js";
import { SpanCollector } from "../timeline/critical-path.js";
import { hasPendingOperations } from "../pulumi/run-history.js";
import { prepareWorker, runOperation, type WorkerRunOptions } from "./run-engine.js";
import type { DecodedEngineEvent } from "../pulumi/events.js";
import { EngineWork } from "./engine-work.js";
import { createHeartbeatRequest } from "./owner-heartbeat.js";
import { convertEngineEvent, type OperationEventListener } from "./operation-events.js";
import type { ServiceOptions, StackOperationOptions } from "./operation-options.js";
import type { EngineOperationName, OperationRequest } from "./worker-messages.js";
import { readClusterSpec, type SpecSources } from "./stack-settings.js";
import {
  findRecordedValues,
  readState,
  type StateAccess,
  type StateExport,
} from "../pulumi/stack-state.js";
import { hasUnlockedPreviews, requireNoUpdate } from "../pulumi/locks/update-in-progress.js";
import { createHeldLock, type HeldLock } from "./held-lock.js";
import { getAbortFailure } from "../../base/failures/cancellation.js";
import { UnconfirmedCreates } from "./unconfirmed-creates.js";
import { markInterruptedScripts, InterruptedScripts } from "./interrupted-scripts.js";
import {
  prepareWorkDirectory,
  findProgramModulePath,
  withStackSettings,
  type StackWorkspaceOptions,
} from "../pulumi/workspace.js";
import { readStackSettings } from "../pulumi/project-files.js";
import { StackConnection } from "../pulumi/stack-connection.js";

/**
 * Number of resources that the engine works on concurrently. The engine's default of four per
 * processor is too low, because most resources only wait for a machine. A jump host accepts 200
 * connections.
 */
const atOnce = 64;

/**
 * Flags of one run of the engine. A flag overrides the option of the request with the same name.
 */
export type EngineRunFlags = Pick<
  OperationRequest,
  "expectNoChanges" | "exclude" | "refresh" | "target"
>;

interface SpecOptions {
  readonly files?: boolean;
  readonly state?: StateExport | undefined;
}

/** Request about one stack. Contains the stack's settings, the cloud client and the processes. */
export class StackOperation {
  readonly access: StateAccess;
  /** Directory of the stack's settings. The program runs in this directory. */
  readonly directory: string;
  /** Text of the settings, read once: the engine must get the text that was checked. */
  readonly #settings: string;
  /** Options of the service. The environment leads to the cloud of the stack. */
  readonly service: ServiceOptions;
  readonly connection: StackConnection;
  #cloud: Promise<CloudClient> | undefined;
  #worker: ChildProcess | undefined;
  /** Whether an engine was started for the request. Such an engine may have changed something. */
  #hasStartedEngine = false;
  /** Title of the step that runs now. */
  #step: string | undefined;
  /** Start time of the request, in milliseconds since 1970. */
  readonly began = Date.now();
  /** Create requests of this run that failed without an answer of the cloud. */
  readonly unconfirmedCreates = new UnconfirmedCreates();
  /** Periods in which the engine worked on each resource. */
  readonly spans = new SpanCollector();

  constructor(
    service: ServiceOptions,
    readonly stack: string,
    readonly options: StackOperationOptions = {},
    /** Receives the events of the operation. Default: events are dropped. */
    readonly emit: OperationEventListener = () => undefined,
  ) {
    this.directory = service.projectDirectory ?? getPackageRoot();
    this.#settings = readStackSettings(this.directory, stack, options.settings);
    this.connection = new StackConnection({
      source: { stack, settings: this.#settings, directory: this.directory },
      env: service.env,
      redactor: options.redactor,
      show: (work) => withStackSettings(this.place(), options.signal, () => work(this.access)),
    });
    this.service = { ...service, env: this.connection.env };
    this.access = {
      env: withBackend(getEngineEnvironment(this.service.env), service.backend),
      workspace: prepareWorkDirectory(this.place()),
    };
  }

  /** Returns the settings, and the options that determine the stack's private directory. */
  private place(): StackWorkspaceOptions {
    const { backend, projectDirectory } = this.service;
    return { stack: this.stack, projectDirectory, settings: this.#settings, backend };
  }

  get project(): string {
    return this.access.workspace.project;
  }

  /** Reports a sentence for the user. */
  note(text: string): void {
    this.emit({ type: "diagnostic", severity: "info", text });
  }

  /** Shows a warning: a problem to correct, or a fact to know. */
  warn(text: string): void {
    this.emit({ type: "diagnostic", severity: "warning", text });
  }

  /** Reports what the current step is doing. */
  progress(detail: string): void {
    if (this.#step !== undefined)
      this.emit({ type: "step", state: "progress", title: this.#step, detail });
  }

  /** Runs one step. Reports when the step begins and ends. */
  async step<T>(
    { title, expectedSeconds }: { readonly title: string; readonly expectedSeconds?: number },
    work: () => Promise<T> | T,
  ): Promise<T> {
    const began = Date.now();
    const end = (outcome: "done" | "failed"): void => {
      const seconds = (Date.now() - began) / 1000;
      this.emit({ type: "step", state: "end", title, outcome, seconds });
      this.#step = undefined;
    };
    this.#step = title;
    const expected = expectedSeconds === undefined ? {} : { expectedSeconds };
    this.emit({ type: "step", state: "begin", title, ...expected });
    try {
      const result = await work();
      end("done");
      return result;
    } catch (error) {
      end("failed");
      throw error;
    }
  }

  /** Returns the cloud client. The first call signs in. */
  cloud(): Promise<CloudClient> {
    const onWait = (text: string): void => {
      this.note(text);
    };
    // A request in progress continues after a stop request, but waits for no further try.
    const patience = { onWait, signal: this.options.signal };
    this.#cloud ??= this.connection.login().then((env) => connectCloud({ env, patience }));
    return this.#cloud;
  }

  /** Returns the cloud client, or undefined if no part of the operation has requested it yet. */
  get cloudInUse(): Promise<CloudClient> | undefined {
    return this.#cloud;
  }

  /**
   * Starts the engine's process and the sign-in early. Errors are reported when the process or the
   * cloud client is used.
   */
  prestart({ program: runs = true }: { readonly program?: boolean } = {}): void {
    const { program = findProgramModulePath() } = this.service;
    const load = { program: runs ? program : undefined };
    // With encrypted settings, the environment of the process is not known yet.
    const { isOpen, env } = this.connection;
    if (isOpen) this.#worker = prepareWorker(load, this.process(env));
    this.cloud().catch(() => undefined);
  }

  /** Ends the request. Kills the process that was started early if no operation used it. */
  close(): void {
    // The process has only loaded modules, so SIGKILL loses nothing. After another signal, the
    // process might wait for a thread that has ended.
    this.#worker?.kill("SIGKILL");
    this.#worker = undefined;
  }

  /** Returns the settings as the user wrote them, with the project and the stack. */
  sources(): Pick<SpecSources, "project" | "stack" | "settings"> {
    return { project: this.project, stack: this.stack, settings: this.#settings };
  }

  /**
   * Returns the specification from the settings. Throws one error that lists all problems. With
   * `files`, also checks the files that the specification names. With `state`, a setting that is not
   * written has the value that the existing cluster recorded.
   */
  async spec({ files = false, state }: SpecOptions = {}): Promise<ClusterSpec> {
    const { env } = this.service;
    const socket = env["SSH_AUTH_SOCK"] ?? "";
    return readClusterSpec({
      ...this.sources(),
      siteFile: env["STACKADM_SITE"],
      agentKeys: socket === "" ? [] : await readAgentKeys(socket, env),
      ...(files && { files: getPinnedFileDirectories(this.service.env, this.directory) }),
      recorded: (cluster) => findRecordedValues(state, cluster),
    });
  }

  requireNotStopped(stop = this.options.signal): void {
    if (stop?.aborted === true) throw getAbortFailure(stop, this.#hasStartedEngine);
  }

  /**
   * Runs `work` while an engine holds the stack's lock. This engine changes nothing. The signal of
   * `work` is aborted if the lock is lost, or if `stop` is aborted. Default of `stop`: the signal
   * of the request. In a backend that does not lock previews, no engine can hold the lock. `work`
   * then runs without an engine, and its client checks before each change that no update runs.
   */
  async hold<T>(
    work: (lock: HeldLock) => Promise<T>,
    { stop }: { readonly stop: AbortSignal | undefined } = { stop: this.options.signal },
  ): Promise<T> {
    this.requireNotStopped(stop);
    const lost = new AbortController();
    const lock = createHeldLock({
      access: this.access,
      backend: this.service.backend,
      signal: AbortSignal.any([lost.signal, ...(stop ? [stop] : [])]),
      connect: () => this.cloud(),
    });
    if (hasUnlockedPreviews(this.service.backend)) {
      await requireNoUpdate(this.access);
      return work(lock);
    }
    const done = new AbortController();
    let worked: Promise<T> | undefined;
    // Before the engine has the lock, a stop request ends the engine. Afterwards, `work` ends first.
    const giveUp = (): void => {
      if (!worked) done.abort();
    };
    stop?.addEventListener("abort", giveUp, { once: true });
    const onHeld = (): void => {
      if (done.signal.aborted) return;
      worked = work(lock).finally(() => {
        done.abort();
      });
      // Prevents an unhandled rejection. The last line of this method returns the same promise
      // after the lock is released.
      worked.catch(() => undefined);
    };
    const { killSignal } = this.options;
    await this.operate(
      this.request("hold"),
      { onHeld, onEvent: () => undefined, signal: done.signal, killSignal },
      { stop },
    )
      .catch(async (error: unknown) => {
        lost.abort(error);
        await worked?.catch(() => undefined);
        throw error;
      })
      .finally(() => {
        stop?.removeEventListener("abort", giveUp);
      });
    if (!worked) this.requireNotStopped(stop);
    if (!worked) throw new Error("The engine ended before it got the stack's lock.");
    return worked;
  }

  private request(operation: OperationRequest["operation"]): OperationRequest {
    const { program = findProgramModulePath() } = this.service;
    const { stack, project } = this;
    const { directory: workDirectory } = this.access.workspace;
    const heartbeat = createHeartbeatRequest(operation, this.service);
    return { type: "start", operation, stack, project, workDirectory, program, heartbeat };
  }

  /** Returns the environment and the directory of the engine's process. */
  private process(login: NodeJS.ProcessEnv): Pick<WorkerRunOptions, "env" | "cwd"> {
    const env = withBackend(getEngineEnvironment(login), this.service.backend);
    return { env: disableStateAttributes(getProviderEnvironment(env)), cwd: this.directory };
  }

  /** Runs one operation in its own process, with the stack's settings. */
  private async operate(
    request: OperationRequest,
    options: Omit<WorkerRunOptions, "env" | "cwd" | "onMessage">,
    {
      stop,
      worker,
    }: { readonly stop: AbortSignal | undefined; readonly worker?: () => ChildProcess | undefined },
  ): Promise<void> {
    let operation: Promise<void> | undefined;
    const process = this.process(await this.connection.login());
    this.#hasStartedEngine = true;
    await withStackSettings(this.place(), stop, async () => {
      await new Promise<void>((begun) => {
        // The first message shows that the engine has read the settings. The lock on the settings
        // can then be released.
        const running = { ...options, ...process, onMessage: begun };
        operation = runOperation(request, running, worker?.());
        operation.then(begun, begun);
      });
    });
    await operation;
  }

  /**
   * Runs the engine once. Returns whether anything differed from the settings, and the events of
   * all resources with work.
   */
  async runEngine(
    operation: EngineOperationName,
    flags: EngineRunFlags = {},
  ): Promise<{ readonly changed: boolean; readonly events: readonly DecodedEngineEvent[] }> {
    this.requireNotStopped();
    const { signal, killSignal, refresh } = this.options;
    // The engine itself reads PULUMI_PARALLEL, so a default is passed only if this variable is not
    // set.
    const named = this.service.env["PULUMI_PARALLEL"] ?? "";
    const { parallel = named === "" ? atOnce : undefined } = this.options;
    // Returns the process that was started early. If no operation uses the process, `close` kills
    // it.
    const worker = (): ChildProcess | undefined => {
      const prepared = this.#worker;
      this.#worker = undefined;
      return prepared?.connected === true ? prepared : undefined;
    };
    const onOutput = (text: string): void => {
      this.emit({ type: "log", text });
    };
    const noted = operation === "up" ? recordUpBegin(this.access.workspace) : undefined;
    const unfinished = new InterruptedScripts(operation);
    const work = new EngineWork();
    const onEvent = (event: DecodedEngineEvent): void => {
      unfinished.processEvent(event);
      work.processEvent(event);
      if (operation === "up") {
        this.unconfirmedCreates.processEvent(event);
        this.spans.processEvent(event, Date.now());
      }
      const body = convertEngineEvent(event);
      if (body) this.emit(body);
    };
    try {
      await this.operate(
        { ...this.request(operation), refresh, parallel, ...flags },
        { onEvent, onOutput, signal, killSignal },
        { stop: signal, worker },
      );
      // A destroy of only some resources may keep the cluster. The next `up` must then run the
      // scripts that undo the teardown.
      await this.remember(unfinished);
      const { events, changed } = work;
      if (changed) noted?.end();
      else noted?.undo();
      return { changed, events };
    } catch (error) {
      if (noted) await this.noteFailure(noted, { error, hasStartedWork: work.hasStartedWork });
      await this.remember(unfinished);
      throw error;
    }
  }

  /** Marks unfinished scripts in the state. The next `up` then runs these scripts again. */
  private async remember({ urns }: InterruptedScripts): Promise<void> {
    await markInterruptedScripts(this.access, urns).catch((reason: unknown) => {
      this.note(`The state does not record which scripts did not finish: ${String(reason)}`);
    });
  }

  /**
   * Records the end of a failed `up`. Restores the previous record if the engine touched no
   * resource. Records nothing if the engine was killed or if operations are pending, because the
   * state may then lack existing objects.
   */
  private async noteFailure(
    noted: UpRecording,
    { error, hasStartedWork }: { readonly error: unknown; readonly hasStartedWork: boolean },
  ): Promise<void> {
    const wasKilled =
      this.options.killSignal?.aborted === true ||
      (error instanceof Failure && error.code === "ENGINE_KILLED");
    if (wasKilled) return;
    if (!hasStartedWork) {
      noted.undo();
      return;
    }
    const state = await readState(this.access).catch(() => undefined);
    if (state && !hasPendingOperations(state)) noted.end();
  }
}
