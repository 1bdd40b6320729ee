import type { ClusterSpec } from "../components/config/cluster-spec.js";
import type { Finding } from "../openstack/checks/finding.js";
import type {
  ClusterServiceOptions,
  DestroyPlan,
  DestroyPlanOptions,
  PreflightRunOptions,
  ReadOptions,
  OutputsOptions,
  StatusResult,
} from "./engine/operation-options.js";
import { describeLockHolders } from "./guards/stack-lock.js";
import type { StartedOperation } from "./engine/operation-events.js";
import { OperationQueue } from "./operations/operation-queue.js";
import { destroy, planDestroy } from "./operations/destroy.js";
import { forceDestroy, planForceDestroy } from "./operations/force-destroy.js";
import type { OperationName, Operations, OperationTable } from "./operations/operations.js";
import { preview } from "./operations/preview.js";
import {
  writeKubeconfigFile,
  readKubeconfig,
  readOutputValues,
  runPreflight,
  readStatus,
} from "./operations/read-stack.js";
import { refresh } from "./operations/refresh.js";
import { unlock } from "./operations/unlock.js";
import { up } from "./operations/up.js";
import { readState, type StateExport } from "./pulumi/stack-state.js";
import { withChosenBackend } from "./setup/operation-environment.js";

/**
 * Cluster operations for the command line, and for programs that embed stackadm. All failures are
 * ClusterErrors with a stable code.
 */
export interface ClusterService {
  /**
   * Starts an operation, or queues it behind earlier operations on the same stack. Returns at once.
   * The events of the operation report what happens.
   */
  start<Name extends OperationName>(
    name: Name,
    stack: string,
    options?: Operations[Name]["options"],
  ): StartedOperation<Operations[Name]["result"]>;
  /** Returns the objects that `destroy` would delete and keep. Changes nothing. */
  destroyPlan(stack: string, options?: DestroyPlanOptions): Promise<DestroyPlan>;
  /** Returns the present state of the machines, nodes and sample services. */
  status(stack: string, options?: ReadOptions): Promise<StatusResult>;
  /**
   * Returns the findings: what the cloud lacks for the cluster. The list is empty if nothing is
   * missing.
   */
  preflight(stack: string, options?: PreflightRunOptions): Promise<Finding[]>;
  /**
   * Returns the cluster that the stack's settings describe. Throws one error that lists all
   * problems.
   */
  spec(stack: string, options?: ReadOptions): Promise<ClusterSpec>;
  /** Returns the stack's outputs. Secrets are plain text or "[secret]". Default: plain text. */
  outputs(stack: string, options?: OutputsOptions): Promise<Record<string, unknown>>;
  /** Returns the administrator's kubeconfig. */
  kubeconfig(stack: string, options?: ReadOptions): Promise<string>;
  /** Writes the kubeconfig to a file that only its owner can read. Returns the path of the file. */
  kubeconfigFile(stack: string, options?: ReadOptions): Promise<string>;
  /**
   * Returns the stack's state with encrypted secrets. Returns undefined if the stack does not
   * exist.
   */
  state(stack: string, options?: ReadOptions): Promise<StateExport | undefined>;
  /**
   * Returns a description of each holder of the stack's lock. If the backend is not a directory,
   * takes the lock for a moment to find the holders.
   */
  locks(stack: string, options?: ReadOptions): Promise<string[]>;
}

const operations: OperationTable = {
  up,
  preview,
  refresh,
  destroy: (run, options) => (options.abandon === true ? forceDestroy : destroy)(run, options),
  unlock,
};

/** Creates a service that uses one state backend. Throws INVALID_USAGE if the backend is wrong. */
export function createClusterService(options: ClusterServiceOptions): ClusterService {
  const queue = new OperationQueue(withChosenBackend(options), operations);
  return {
    start: (name, stack, options) => queue.start(name, stack, options),
    destroyPlan: (stack, options = {}) =>
      queue.request(stack, options, options.abandon === true ? planForceDestroy : planDestroy),
    status: (stack, options = {}) => queue.request(stack, options, readStatus),
    preflight: (stack, options = {}) =>
      queue.request(stack, options, (run) => runPreflight(run, options)),
    spec: (stack, options = {}) => queue.request(stack, options, (run) => run.spec()),
    outputs: (stack, options = {}) =>
      queue.request(stack, options, (run) => readOutputValues(run, options.secrets)),
    kubeconfig: (stack, options = {}) => queue.request(stack, options, readKubeconfig),
    kubeconfigFile: (stack, options = {}) => queue.request(stack, options, writeKubeconfigFile),
    state: (stack, options = {}) =>
      queue.request(stack, options, ({ access }) => readState(access)),
    locks: (stack, options = {}) => queue.request(stack, options, describeLockHolders),
  };
}
