import type { Finding } from "../openstack/checks/finding.js";
import type { ClusterSpec } from "../components/config/cluster-spec.js";
import { unlessStopped } from "./engine/cancellation.js";
import { writeKubeconfig } from "./engine/kubeconfig-file.js";
import { Run } from "./engine/operation-context.js";
import type {
  ClusterServiceOptions,
  DestroyOptions,
  DestroyPlan,
  DestroyPlanOptions,
  DestroyResult,
  FitOptions,
  LookOptions,
  OutputsOptions,
  PreviewOptions,
  PreviewResult,
  RefreshResult,
  RunOptions,
  StatusResult,
  UnlockOptions,
  UpOptions,
  UpResult,
} from "./engine/operation-options.js";
import { requireSameLocation } from "./guards/cloud-location.js";
import { holdersOf } from "./guards/stack-lock.js";
import { lookAt } from "./health/cluster-status.js";
import { destroy } from "./operations/destroy.js";
import { forceDestroy } from "./operations/force-destroy.js";
import { preview } from "./operations/preview.js";
import { refresh } from "./operations/refresh.js";
import { planDestroy, runDestroy } from "./operations/run-destroy.js";
import { unlock } from "./operations/unlock.js";
import { up } from "./operations/up.js";
import { findingsFor } from "./preflight/preflight.js";
import { ClusterError } from "./pulumi/cluster-error.js";
import { withoutSecrets } from "./pulumi/redact-secrets.js";
import { readOutputs, readState, type Secrets, type StateExport } from "./pulumi/stack-state.js";
import { parseOutputs } from "./verify/cluster-outputs.js";

/**
 * Cluster operations for the command line and for programs that embed them. Each throws a
 * ClusterError with a stable code. Operations on one stack run one after the other.
 */
export interface ClusterService {
  /** Creates or changes the cluster to match the stack's settings, and verifies that it works. */
  up(stack: string, options?: UpOptions): Promise<UpResult>;
  /** Returns what `up` would do. Changes nothing. */
  preview(stack: string, options?: PreviewOptions): Promise<PreviewResult>;
  /** Reads the cloud's objects into the state, and counts what `up` would change. */
  refresh(stack: string, options?: RunOptions): Promise<RefreshResult>;
  /**
   * Deletes all resources of the state and all objects with its clusters' identities, except
   * retained ones, and verifies the deletion. Succeeds if there are none. Throws for a protected
   * cluster, or if only another state has a cluster of this name. Does not ask for confirmation.
   */
  destroy(stack: string, options?: DestroyOptions): Promise<DestroyResult>;
  /** Returns what `destroy` would delete and what it would keep. Changes nothing. */
  destroyPlan(stack: string, options?: DestroyPlanOptions): Promise<DestroyPlan>;
  /** Returns the current machines, nodes and samples. */
  status(stack: string, options?: LookOptions): Promise<StatusResult>;
  /** Returns what the cloud lacks for the cluster; empty if nothing is missing. */
  preflight(stack: string, options?: FitOptions): Promise<Finding[]>;
  /** Returns the cluster that the stack's settings describe; reports all problems in one error. */
  spec(stack: string, options?: LookOptions): Promise<ClusterSpec>;
  /** Returns the stack's outputs, secrets as plain text or as "[secret]". Default: plain text. */
  outputs(stack: string, options?: OutputsOptions): Promise<Record<string, unknown>>;
  /** Returns the administrator's kubeconfig. */
  kubeconfig(stack: string, options?: LookOptions): Promise<string>;
  /** Writes the kubeconfig to a file that only its owner can read; returns the path. */
  kubeconfigFile(stack: string, options?: LookOptions): Promise<string>;
  /** Returns the state, with secrets encrypted; undefined if the stack does not exist. */
  state(stack: string, options?: LookOptions): Promise<StateExport | undefined>;
  /** Returns the lock's holders. Takes the lock for a moment if the backend is no directory. */
  locks(stack: string, options?: LookOptions): Promise<string[]>;
  /** Removes the locks of holders that the caller knows to be dead, and returns these holders. */
  unlock(stack: string, options?: UnlockOptions): Promise<string[]>;
}

class Service implements ClusterService {
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(private readonly service: ClusterServiceOptions) {}

  up(stack: string, options: UpOptions = {}): Promise<UpResult> {
    return this.inTurn(stack, options, (run) => up(run, options));
  }

  preview(stack: string, options: PreviewOptions = {}): Promise<PreviewResult> {
    return this.inTurn(stack, options, (run) => preview(run, options));
  }

  refresh(stack: string, options: RunOptions = {}): Promise<RefreshResult> {
    return this.inTurn(stack, options, refresh);
  }

  destroy(stack: string, options: DestroyOptions = {}): Promise<DestroyResult> {
    return this.inTurn(stack, options, (run) => runDestroy(destroyOf(options), run, options));
  }

  destroyPlan(stack: string, options: DestroyPlanOptions = {}): Promise<DestroyPlan> {
    return this.request(stack, options, (run) => planDestroy(destroyOf(options), run));
  }

  status(stack: string, options: LookOptions = {}): Promise<StatusResult> {
    return this.request(stack, options, async (run) => {
      const state = await stateOf(run);
      await requireSameLocation({ run, state });
      return lookAt(run, state, parseOutputs(await readOutputs(run.access)));
    });
  }

  preflight(stack: string, options: FitOptions = {}): Promise<Finding[]> {
    return this.request(stack, options, async (run) => {
      const [spec, state] = await Promise.all([run.spec({ files: true }), readState(run.access)]);
      await requireSameLocation({ run, state });
      return findingsFor(run, spec, state, options);
    });
  }

  spec(stack: string, options: LookOptions = {}): Promise<ClusterSpec> {
    return this.request(stack, options, (run) => run.spec());
  }

  outputs(stack: string, options: OutputsOptions = {}): Promise<Record<string, unknown>> {
    return this.request(stack, options, (run) => outputsOf(run, options.secrets));
  }

  async kubeconfig(stack: string, options: LookOptions = {}): Promise<string> {
    return parseOutputs(await this.outputs(stack, options)).kubeconfig;
  }

  kubeconfigFile(stack: string, options: LookOptions = {}): Promise<string> {
    return this.request(stack, options, async (run) => {
      const { kubeconfig } = parseOutputs(await outputsOf(run));
      return writeKubeconfig(run.access.workspace, kubeconfig);
    });
  }

  state(stack: string, options: LookOptions = {}): Promise<StateExport | undefined> {
    return this.request(stack, options, ({ access }) => readState(access));
  }

  locks(stack: string, options: LookOptions = {}): Promise<string[]> {
    return this.request(stack, options, holdersOf);
  }

  unlock(stack: string, options: UnlockOptions = {}): Promise<string[]> {
    return this.request(stack, options, (run) => unlock(run, options.holders));
  }

  /** Runs one request. Throws CANCELLED instead of an error that a stop caused. */
  private async request<T>(
    stack: string,
    options: RunOptions,
    work: (run: Run) => T | Promise<T>,
  ): Promise<T> {
    let run: Run | undefined;
    try {
      run = new Run(this.service, stack, options);
      return await work(run);
    } catch (error) {
      throw withoutSecrets(unlessStopped(error, options.signal), this.service.env);
    } finally {
      run?.close();
    }
  }

  /** Runs the operations on one stack one after another, and on different stacks concurrently. */
  private inTurn<T>(
    stack: string,
    options: RunOptions,
    work: (run: Run) => Promise<T>,
  ): Promise<T> {
    const begin = (): Promise<T> =>
      this.request(stack, options, (run) => {
        run.requireNotStopped();
        return work(run);
      });
    const mine = (this.#turns.get(stack) ?? Promise.resolve()).then(begin, begin);
    this.#turns.set(stack, mine);
    return mine;
  }
}

const destroyOf = ({ abandon }: Pick<DestroyOptions, "abandon">) =>
  abandon === true ? forceDestroy : destroy;

/** Returns the state of a stack; throws if the stack does not exist. */
async function stateOf({ access, stack }: Run): Promise<StateExport> {
  const state = await readState(access);
  if (state !== undefined) return state;
  throw new ClusterError(
    "STACK_NOT_FOUND",
    `The backend has no stack '${stack}'.`,
    `Create it with \`npx stackadm up --stack ${stack}\`, or set PULUMI_BACKEND_URL to the backend that has its state.`,
  );
}

async function outputsOf(run: Run, secrets?: Secrets): Promise<Record<string, unknown>> {
  await stateOf(run);
  return readOutputs(run.access, secrets);
}

/** Creates the service for one backend. */
export const createClusterService = (service: ClusterServiceOptions): ClusterService =>
  new Service(service);
