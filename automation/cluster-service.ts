import type { Finding } from "../openstack/checks/finding.js";
import type { ClusterSpec } from "../components/config/cluster-spec.js";
import { parseOutputs } from "./verify/cluster-outputs.js";
import { Failure } from "../base/failures/failure.js";
import { planDestroy } from "./destroy/destroy-plan.js";
import { requireNoOtherBackend, nameAndProtectionOf } from "./guards/other-backend.js";
import { collectEvents } from "./pulumi/events.js";
import { repairBeforeUp } from "./repair/repair-before-up.js";
import { deleteBrokenBalancers, planBrokenBalancers } from "./repair/broken-load-balancers.js";
import { storePreflightCache } from "./preflight/preflight-cache.js";
import { fetchKubeconfig, reportOldKubeconfig } from "./health/kubeconfig-refresh.js";
import { awaitOrAbandonApi } from "./destroy/settle-cluster-api.js";
import { moveEarlierKubeconfig, removeFiles, writeKubeconfig } from "./engine/kubeconfig-file.js";
import type {
  ClusterServiceOptions,
  DestroyOptions,
  DestroyPlan,
  DestroyPlanOptions,
  DestroyResult,
  PreflightRunOptions,
  ReadOptions,
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
import {
  retainForeignCredentials,
  excludeForeignCredentials,
} from "./guards/foreign-credentials.js";
import { requireSameLocation } from "./guards/cloud-location.js";
import { countDiffering, planRows } from "./pulumi/preview-rows.js";
import { rewrittenServerGroups, rewriteServerGroups } from "./guards/plugin-conversion.js";
import { refreshState } from "./repair/remove-refused-power-states.js";
import { startPreflight, findingsFor } from "./preflight/preflight.js";
import { verifyEarly, verifyAfterUp } from "./health/cluster-health.js";
import { requireConfirmedClusters, requireUnprotected } from "./guards/destroy-protection.js";
import { withoutSecrets } from "./pulumi/redact-secrets.js";
import {
  repairInterruptedRun,
  reportPlannedRepair,
  deleteUnconfirmedCreates,
  withPlannedRepairs,
} from "./repair/interrupted-run.js";
import { StackOperation } from "./engine/operation-context.js";
import { unblockNetworks } from "./repair/unrecorded-objects.js";
import { readClusters } from "./engine/cluster-providers.js";
import {
  isEmptyStack,
  identitiesOf,
  clusterNamesInState,
  readOutputs,
  readState,
  type SecretOutputForm,
  type StateExport,
} from "./pulumi/stack-state.js";
import { readClusterStatus } from "./health/cluster-status.js";
import { asCancellation } from "./engine/cancellation.js";
import { sweepAfterDestroy } from "./destroy/sweep-leftovers.js";
import { lockHoldersOf, requireUnlocked, unlockStack } from "./guards/stack-lock.js";
import { refreshPartialCreates } from "./repair/partial-creates.js";
import { readStateAndReportClusters, readStateOfClusterStack } from "./guards/cluster-identity.js";

/**
 * Cluster operations for the command line and for programs that embed them. Each throws a
 * Failure with a stable code. Operations on one stack run one after the other.
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
  status(stack: string, options?: ReadOptions): Promise<StatusResult>;
  /** Returns what the cloud lacks for the cluster; empty if nothing is missing. */
  preflight(stack: string, options?: PreflightRunOptions): Promise<Finding[]>;
  /** Returns the cluster that the stack's settings describe; reports all problems in one error. */
  spec(stack: string, options?: ReadOptions): Promise<ClusterSpec>;
  /** Returns the stack's outputs, secrets as plain text or as "[secret]". Default: plain text. */
  outputs(stack: string, options?: OutputsOptions): Promise<Record<string, unknown>>;
  /** Returns the administrator's kubeconfig. */
  kubeconfig(stack: string, options?: ReadOptions): Promise<string>;
  /** Writes the kubeconfig to a file that only its owner can read; returns the path. */
  kubeconfigFile(stack: string, options?: ReadOptions): Promise<string>;
  /** Returns the state, with secrets encrypted; undefined if the stack does not exist. */
  state(stack: string, options?: ReadOptions): Promise<StateExport | undefined>;
  /** Returns the lock's holders. Takes the lock for a moment if the backend is no directory. */
  locks(stack: string, options?: ReadOptions): Promise<string[]>;
  /** Removes the locks of holders that the caller knows to be dead, and returns these holders. */
  unlock(stack: string, options?: UnlockOptions): Promise<string[]>;
}

class Service implements ClusterService {
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(private readonly service: ClusterServiceOptions) {}

  up(stack: string, options: UpOptions = {}): Promise<UpResult> {
    const { preflight = true, expectNoChanges } = options;
    return this.inTurn(stack, options, async (run) => {
      const spec = preflight === false ? undefined : await run.spec({ files: true });
      await requireUnlocked(run);
      if (spec) run.getReady();
      const requireFit = startPreflight(run, spec, options);
      const repaired = await repairBeforeUp(run, expectNoChanges);
      const fitting = await requireFit(repaired);
      const { state, hasRepaired } = await refreshPartialCreates(
        run,
        await rewriteServerGroups(run, repaired.state),
      );
      // `expectNoChanges` asks for a comparison with the real cloud, so cached facts are not used.
      const known = expectNoChanges === true || hasRepaired ? undefined : fitting;
      if (expectNoChanges !== true) await fetchKubeconfig(run, state);
      run.stage("operation");
      const flags =
        known?.asBefore === true ? {} : (await retainForeignCredentials(run, state)).flags;
      const early = state && verifyEarly(run, state, options);
      const { changed } = await run
        .engine("up", { expectNoChanges, exists: state !== undefined, known, ...flags })
        .catch(async (error: unknown) => {
          await deleteUnconfirmedCreates(run);
          throw error;
        });
      const seen = changed ? undefined : await early;
      const { after, ...proved } = await verifyAfterUp(
        run,
        seen && { ...seen, after: state },
        options,
      );
      storePreflightCache(run, spec, after);
      return proved;
    });
  }

  preview(stack: string, options: PreviewOptions = {}): Promise<PreviewResult> {
    const { events, ...listening } = collectEvents(options);
    return this.inTurn(stack, { ...options, ...listening }, async (run) => {
      if (options.preflight !== false) {
        await run.spec({ files: true });
        run.getReady();
      }
      const state = await readStateAndReportClusters(run);
      reportOldKubeconfig(run, state);
      const balancers = await planBrokenBalancers(run, state);
      await run.engine("preview", await excludeForeignCredentials(run, state));
      const rows = planRows(events, balancers, rewrittenServerGroups(run, state));
      return { plan: withPlannedRepairs(run, state, rows) };
    });
  }

  refresh(stack: string, options: RunOptions = {}): Promise<RefreshResult> {
    const { events, ...listening } = collectEvents(options);
    return this.inTurn(stack, { ...options, ...listening }, async (run) => {
      await requireUnlocked(run);
      const state = await readStateOfClusterStack(run);
      reportPlannedRepair(run, state);
      const balancers = await planBrokenBalancers(run, state);
      await refreshState(run, {
        exists: state !== undefined,
        ...(await excludeForeignCredentials(run, state, true)),
      });
      return { changed: countDiffering(events, balancers) };
    });
  }

  destroy(stack: string, options: DestroyOptions = {}): Promise<DestroyResult> {
    return this.inTurn(stack, options, async (run) => {
      await requireUnlocked(run);
      run.getReady({ program: false });
      const [settings, state] = await Promise.all([
        nameAndProtectionOf(run),
        readStateOfClusterStack(run),
      ]);
      const { name } = settings;
      if (state === undefined || isEmptyStack(state)) {
        const left = await requireNoOtherBackend(run, name);
        // Deletes the empty stack itself.
        if (state !== undefined) await run.engine("destroy", { exists: true });
        return { clusters: [name], held: false, deleted: [], ...left };
      }
      const meant = options.identities ?? [...identitiesOf(state)];
      const requireAgreed = (now: StateExport | undefined): void => {
        requireConfirmedClusters(now, meant);
        requireUnprotected(run, settings, now);
      };
      requireAgreed(state);
      run.stage("operation");
      const { access } = run;
      // Must run while the state still has the clusters' providers.
      await moveEarlierKubeconfig(access.workspace, () => readClusters(access));
      const settled = await awaitOrAbandonApi(run, state, { ...options, requireAgreed });
      const repaired = await repairInterruptedRun(run, settled, {
        stage: "operation",
        newest: false,
      });
      const purpose = { purpose: "destroy", requireAgreed } as const;
      const { state: rest } = await deleteBrokenBalancers(run, repaired.state, purpose);
      await unblockNetworks(run, rest ?? state);
      const { flags, others } = await retainForeignCredentials(run, state);
      await run.engine("destroy", { exists: true, ...flags });
      const swept = {
        ...(await sweepAfterDestroy(run, state)),
        ...(others.length > 0 && { others }),
      };
      removeFiles(access.workspace);
      return { clusters: clusterNamesInState(state, name), held: true, ...swept };
    });
  }

  destroyPlan(stack: string, options: DestroyPlanOptions = {}): Promise<DestroyPlan> {
    return this.request(stack, options, (run) => planDestroy(run, options));
  }

  status(stack: string, options: ReadOptions = {}): Promise<StatusResult> {
    return this.request(stack, options, async (run) => {
      const state = await stateOf(run);
      await requireSameLocation(run, state);
      return readClusterStatus(run, state, parseOutputs(await readOutputs(run.access)));
    });
  }

  preflight(stack: string, options: PreflightRunOptions = {}): Promise<Finding[]> {
    return this.request(stack, options, async (run) => {
      const [spec, state] = await Promise.all([run.spec({ files: true }), readState(run.access)]);
      await requireSameLocation(run, state);
      return findingsFor(run, spec, state, options);
    });
  }

  spec(stack: string, options: ReadOptions = {}): Promise<ClusterSpec> {
    return this.request(stack, options, (run) => run.spec());
  }

  outputs(stack: string, options: OutputsOptions = {}): Promise<Record<string, unknown>> {
    return this.request(stack, options, (run) => outputsOf(run, options.secrets));
  }

  async kubeconfig(stack: string, options: ReadOptions = {}): Promise<string> {
    return parseOutputs(await this.outputs(stack, options)).kubeconfig;
  }

  kubeconfigFile(stack: string, options: ReadOptions = {}): Promise<string> {
    return this.request(stack, options, async (run) => {
      const { kubeconfig } = parseOutputs(await outputsOf(run));
      return writeKubeconfig(run.access.workspace, kubeconfig);
    });
  }

  state(stack: string, options: ReadOptions = {}): Promise<StateExport | undefined> {
    return this.request(stack, options, ({ access }) => readState(access));
  }

  locks(stack: string, options: ReadOptions = {}): Promise<string[]> {
    return this.request(stack, options, lockHoldersOf);
  }

  unlock(stack: string, options: UnlockOptions = {}): Promise<string[]> {
    return this.request(stack, options, (run) => unlockStack(run, options.holders ?? []));
  }

  /** Runs one request. Throws CANCELLED instead of an error that a stop caused. */
  private async request<T>(
    stack: string,
    options: RunOptions,
    work: (run: StackOperation) => T | Promise<T>,
  ): Promise<T> {
    let run: StackOperation | undefined;
    try {
      run = new StackOperation(this.service, stack, options);
      return await work(run);
    } catch (error) {
      throw withoutSecrets(asCancellation(error, options.signal), this.service.env);
    } finally {
      run?.close();
    }
  }

  /** Runs the operations on one stack one after another, and on different stacks concurrently. */
  private inTurn<T>(
    stack: string,
    options: RunOptions,
    work: (run: StackOperation) => Promise<T>,
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

/** Returns the state of a stack; throws if the stack does not exist. */
async function stateOf({ access, stack }: StackOperation): Promise<StateExport> {
  const state = await readState(access);
  if (state !== undefined) return state;
  throw new Failure(
    "STACK_NOT_FOUND",
    `The backend has no stack '${stack}'.`,
    `Create it with \`npx stackadm up --stack ${stack}\`, or set PULUMI_BACKEND_URL to the backend that has its state.`,
  );
}

async function outputsOf(
  run: StackOperation,
  secrets?: SecretOutputForm,
): Promise<Record<string, unknown>> {
  await stateOf(run);
  return readOutputs(run.access, secrets);
}

/** Creates the service for one backend. */
export const createClusterService = (service: ClusterServiceOptions): ClusterService =>
  new Service(service);
