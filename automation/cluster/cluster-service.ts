import { connectCloud, type CloudClient } from "../../cloud/client.js";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-api.js";
import { settleApi } from "./abandon.js";
import { ClusterError } from "./cluster-error.js";
import { describeLock, removeDeadLocks } from "./engine-locks.js";
import type { ClusterEvent } from "./events.js";
import { runOperation, type StackOutputs } from "./operation.js";
import type { OperationName } from "./protocol.js";
import { recover } from "./recovery.js";
import {
  pulumi,
  readKubeconfig,
  readOutputs,
  readState,
  type StateAccess,
  type StateExport,
} from "./state.js";
import { prepareWorkspace, programModule, type Workspace } from "./workspace.js";
import { packageRoot } from "../../base/paths.js";

export interface ClusterServiceOptions {
  /**
   * The environment of engine, plugins and program: PATH with the tools, OS_*, SSH_AUTH_SOCK and Pulumi's variables,
   * as `prepareSurroundings` makes it.
   */
  readonly env: NodeJS.ProcessEnv;
  /** URL of the state backend. */
  readonly backend: string;
  /** Directory with Pulumi.yaml and the stack files. Default: the package's root. */
  readonly projectDirectory?: string;
  /** Module that exports the program. Default: the package's own. */
  readonly program?: string;
}

export interface RunOptions {
  readonly onEvent?: (event: ClusterEvent) => void;
  /** What was repaired before the operation, and what the program prints. */
  readonly onNote?: (text: string) => void;
  /** Cancels in good order. */
  readonly signal?: AbortSignal;
  /** Ends at once. */
  readonly killSignal?: AbortSignal;
  /** Read the real world before comparing. Default: false. */
  readonly refresh?: boolean;
  /** The stack's settings as text instead of its file's. */
  readonly settings?: string;
  /** `up` fails when it would change anything. */
  readonly expectNoChanges?: boolean;
}

export interface DestroyOptions extends RunOptions {
  /**
   * Skip what needs the cluster's API, for a cluster whose API is gone for good: its load balancers are found by the
   * cluster's identity, its volumes stay. Default: false, and a cluster whose API does not answer is left as it is.
   */
  readonly abandon?: boolean;
}

/** What embedding programs use: the cluster operations, with events while they run and typed errors. */
export interface ClusterService {
  /** Brings the cluster to what the stack's settings say; answers the stack's outputs. */
  up(stack: string, options?: RunOptions): Promise<StackOutputs>;
  /** Says by events what `up` would do. Nothing is changed. */
  preview(stack: string, options?: RunOptions): Promise<void>;
  /** Reads what is really there into the state. */
  refresh(stack: string, options?: RunOptions): Promise<void>;
  /** Takes everything away that the stack's state holds. Well when there is no such stack. */
  destroy(stack: string, options?: DestroyOptions): Promise<void>;
  /** Stack outputs, secrets in clear. */
  outputs(stack: string): Promise<Record<string, unknown>>;
  /** The state, secrets encrypted; undefined when there is no such stack. */
  state(stack: string): Promise<StateExport | undefined>;
  /** Removes the lock of an operation that is gone; refuses while its process runs on this host. */
  unlock(stack: string): Promise<string[]>;
}

class Service implements ClusterService {
  private readonly queues = new Map<string, Promise<unknown>>();

  constructor(private readonly options: ClusterServiceOptions) {}

  up(stack: string, options: RunOptions = {}): Promise<StackOutputs> {
    return this.exclusively(stack, () => this.run("up", stack, options));
  }

  async preview(stack: string, options: RunOptions = {}): Promise<void> {
    await this.exclusively(stack, () => this.run("preview", stack, options));
  }

  async refresh(stack: string, options: RunOptions = {}): Promise<void> {
    await this.exclusively(stack, () => this.run("refresh", stack, options));
  }

  async destroy(stack: string, options: DestroyOptions = {}): Promise<void> {
    await this.exclusively(stack, async () => {
      if ((await this.state(stack)) !== undefined) await this.run("destroy", stack, options);
    });
  }

  async outputs(stack: string): Promise<Record<string, unknown>> {
    const access = this.access(this.workspace(stack));
    if ((await readState(access)) === undefined) throw unknownStack(stack);
    return readOutputs(access);
  }

  async state(stack: string): Promise<StateExport | undefined> {
    return readState(this.access(this.workspace(stack)));
  }

  async unlock(stack: string): Promise<string[]> {
    const workspace = this.workspace(stack);
    const { removed, held } = removeDeadLocks(this.options.backend, workspace.project, stack);
    const [alive] = held;
    if (alive) throw locked(describeLock(alive));
    if (removed.length > 0) return removed.map(describeLock);
    // Another kind of backend: its own command knows.
    if (!this.options.backend.startsWith("file:"))
      await pulumi(this.access(workspace), ["cancel", "--yes"]);
    return [];
  }

  /** Operations on one stack wait for each other; those on different stacks do not. */
  private async exclusively<T>(stack: string, work: () => Promise<T>): Promise<T> {
    const before = this.queues.get(stack) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.queues.set(stack, mine);
    return mine;
  }

  private workspace(stack: string, settings?: string): Workspace {
    const { backend, projectDirectory } = this.options;
    return prepareWorkspace({ stack, projectDirectory, settings, backend });
  }

  private access(workspace: Workspace): StateAccess {
    return { workspace, env: this.options.env };
  }

  private async run(
    operation: OperationName,
    stack: string,
    options: DestroyOptions,
  ): Promise<StackOutputs> {
    const workspace = this.workspace(stack, options.settings);
    if (operation !== "preview") this.requireFree(workspace, options);
    if (operation === "destroy")
      await settleApi({ ...options, access: this.access(workspace), env: this.options.env });
    if (operation !== "preview") await this.repair(workspace, options);
    if (options.signal?.aborted === true)
      throw new ClusterError("CANCELLED", "Stopped on request before anything was changed.");
    return this.perform(operation, workspace, options);
  }

  private perform(
    operation: OperationName,
    workspace: Workspace,
    options: RunOptions,
  ): Promise<StackOutputs> {
    const { stack } = workspace;
    return runOperation(
      {
        type: "start",
        operation,
        stack,
        project: workspace.project,
        workDirectory: workspace.directory,
        program: this.options.program ?? programModule(),
        refresh: options.refresh,
        expectNoChanges: options.expectNoChanges,
      },
      {
        env: this.options.env,
        cwd: this.options.projectDirectory ?? packageRoot(),
        onEvent: options.onEvent ?? (() => undefined),
        onOutput: options.onNote,
        signal: options.signal,
        killSignal: options.killSignal,
      },
    );
  }

  /** Locks of dead processes are removed; a living one is an error. */
  private requireFree(workspace: Workspace, options: RunOptions): void {
    const note = options.onNote ?? (() => undefined);
    const { backend } = this.options;
    const { removed, held } = removeDeadLocks(backend, workspace.project, workspace.stack);
    for (const lock of removed)
      note(`The lock of ${describeLock(lock)} is removed: that process is gone.`);
    const [alive] = held;
    if (alive) throw locked(describeLock(alive));
  }

  /** What a killed engine left half-made is taken away. */
  private async repair(workspace: Workspace, options: RunOptions): Promise<void> {
    const note = options.onNote ?? (() => undefined);
    const access = this.access(workspace);
    const cleared = await recover(access, async () => ({
      cloud: await connectCloud({ env: this.options.env }),
      kubernetes: async () => {
        const kubeconfig = await readKubeconfig(access);
        return kubeconfig === undefined ? undefined : new KubernetesApi(readKubeAccess(kubeconfig));
      },
      note,
      signal: options.signal,
    }));
    if (cleared.length > 0)
      note(`An earlier run was interrupted; it is repaired: ${cleared.join(", ")}.`);
  }
}

const locked = (who: string): ClusterError =>
  new ClusterError(
    "STACK_LOCKED",
    `Another operation holds this stack: ${who}.`,
    "Wait until it is done. If it runs on another host and is gone, run `npx stackadm unlock` there, or `pulumi cancel`.",
  );

const unknownStack = (stack: string): ClusterError =>
  new ClusterError(
    "STACK_NOT_FOUND",
    `There is no stack '${stack}' in this backend.`,
    `Make it with \`npx stackadm up --stack ${stack}\`.`,
  );

/** The cluster operations on one backend. */
export const createClusterService = (options: ClusterServiceOptions): ClusterService =>
  new Service(options);

export type { CloudClient, ClusterEvent, StackOutputs };
