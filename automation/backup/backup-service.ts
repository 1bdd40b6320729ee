import { listObjects } from "../../openstack/inventory/inventory.js";
import { requireUnlocked } from "../guards/stack-lock.js";
import type {
  ClusterServiceOptions,
  RunOptions,
  ServiceOptions,
  StopSignals,
  WhichCluster,
} from "../engine/operation-options.js";
import { Failure } from "../../base/failures/failure.js";
import { StackOperation } from "../engine/operation-context.js";
import type { OperationEventListener } from "../engine/operation-events.js";
import {
  findStackOwnership,
  findClusterIdentities,
  readOutputs,
  type StateExport,
} from "../pulumi/stack-state.js";
import { redactError, type Redactor } from "../../base/terminal/redact-secrets.js";
import { createServiceRedactor } from "../engine/service-redactor.js";
import { convertAbortError } from "../../base/failures/cancellation.js";
import { readStackState, reportCluster } from "../guards/identify-clusters.js";
import { requireClusterStack } from "../guards/cluster-stack.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { withChosenBackend } from "../setup/operation-environment.js";
import { runGuards } from "../steps/run-steps.js";
import type { OperationFacts } from "../steps/step.js";
import { parseOutputs, type ClusterOutputs } from "../verify/cluster-outputs.js";
import { findUnfinishedBackups, readBackup, type Backup } from "./backup-files.js";
import { omitForeignServers } from "./machines-by-role.js";
import { withStackLock, markControlPlaneScripts } from "./with-stack-lock.js";
import { ClusterMachines } from "./machine-programs.js";
import { readMachineStates, restoreCluster, type RestoreTarget } from "./restore-cluster.js";
import {
  serializeRestoreActions,
  planRestore,
  requireBackupOfCluster,
  type RestorePlan,
} from "./restore-plan.js";
import { takeBackup, getRecordedKubernetesVersion } from "./take-backup.js";

/** Options of every method of the service. */
export interface BackupRunOptions extends Pick<RunOptions, "settings">, StopSignals {
  /** Called once, before any change, with the stack's clusters. */
  readonly onCluster?: (which: WhichCluster) => void;
  /** Called with sentences for the user. A leading `!` marks a warning. */
  readonly onNote?: (text: string) => void;
  /** Called with a few words about the current work. */
  readonly onDetail?: (text: string) => void;
}

export interface BackupOptions extends BackupRunOptions {
  /** Directory for the backup. Must not exist. */
  readonly to: string;
}

export interface RestorePlanOptions extends BackupRunOptions {
  /** Directory that `backup` has created. */
  readonly from: string;
}

/** Takes backups and restores clusters. Uses SSH only, so the cluster's API need not answer. */
export interface BackupService {
  /**
   * Copies etcd's data, the files of a control plane and the stack's state into a directory. The
   * directory then contains the cluster's keys. Changes nothing in the cluster, and works even if
   * etcd has no majority. Throws COMMAND_FAILED if no machine returns its files, but keeps the
   * directory with etcd's data and the state.
   */
  backup(stack: string, options: BackupOptions): Promise<Backup>;
  /**
   * Returns the plan of a restore for the present state of the machines. Changes nothing. Throws
   * NOT_READY with all obstacles if the backup cannot be restored.
   */
  restorePlan(stack: string, options: RestorePlanOptions): Promise<RestorePlan>;
  /**
   * Restores etcd from the backup. Changes in Kubernetes after the backup are lost. Does not ask
   * for confirmation. After etcd is stopped, only `killSignal` ends the restore early. A new call
   * then continues the restore.
   */
  restore(stack: string, plan: RestorePlan, options?: BackupRunOptions): Promise<void>;
}

interface Cluster {
  readonly run: StackOperation;
  readonly state: StateExport;
  readonly outputs: ClusterOutputs;
  readonly machines: ClusterMachines;
}

/**
 * Returns a listener that passes an operation's events to the callbacks of the options, without
 * secrets.
 */
const emitTo =
  ({ onCluster, onNote }: BackupRunOptions, redactor: Redactor): OperationEventListener =>
  (emitted) => {
    const event = redactor.cleanFields(emitted);
    if (event.type === "cluster") {
      const { clusters, identities, held, place } = event;
      onCluster?.({ clusters, identities, held, ...(place && { place }) });
    }
    if (event.type === "diagnostic")
      onNote?.(event.severity === "warning" ? `! ${event.text}` : event.text);
  };

/** Runs `work` with the state, the outputs and the machines of a stack's cluster. */
async function withCluster<T>(
  service: ServiceOptions,
  stack: string,
  options: BackupRunOptions,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const redactor = createServiceRedactor(service.env);
  const run = new StackOperation(
    service,
    stack,
    { ...options, redactor },
    emitTo(options, redactor),
  );
  let machines: ClusterMachines | undefined;
  const end = (): void => machines?.close();
  try {
    const facts: OperationFacts = { run };
    await runGuards(
      [requireUnlocked, readStackState, requireClusterStack, requireSameLocation, reportCluster],
      facts,
    );
    const { state } = facts;
    if (state === undefined)
      throw new Failure("STACK_NOT_FOUND", `The backend has no stack '${stack}'.`);
    const outputs = parseOutputs(await readOutputs(run.access));
    machines = await ClusterMachines.forStack(run, outputs);
    options.killSignal?.addEventListener("abort", end);
    return await work({ run, state, outputs, machines });
  } catch (error) {
    throw redactError(convertAbortError(error, options.signal), redactor);
  } finally {
    options.killSignal?.removeEventListener("abort", end);
    end();
    run.close();
  }
}

/**
 * Returns the plan of a restore for the present state of the machines, and the cluster's servers.
 */
async function planNow(
  { run, state, outputs, machines }: Cluster,
  backup: Backup,
): Promise<Pick<RestoreTarget, "plan" | "servers">> {
  requireBackupOfCluster(backup, {
    cluster: outputs.clusterName,
    identities: findClusterIdentities(state),
    kubernetesVersion: getRecordedKubernetesVersion(state),
  });
  const servers = omitForeignServers(
    await listObjects(await run.cloud(), "server"),
    findStackOwnership(state),
  );
  const seen = await readMachineStates(outputs, machines, servers);
  return { plan: planRestore({ backup, outputs, seen }), servers };
}

/** Creates a service that uses one state backend. Throws INVALID_USAGE if the backend is wrong. */
export const createBackupService = (options: ClusterServiceOptions): BackupService =>
  createServiceOfBackend(withChosenBackend(options));

const createServiceOfBackend = (service: ServiceOptions): BackupService => ({
  backup: (stack, options) =>
    withCluster(service, stack, options, async ({ run, ...source }) => {
      const requireGoingOn = (): void => {
        run.requireNotStopped();
      };
      requireGoingOn();
      const { onDetail, onNote } = options;
      for (const one of findUnfinishedBackups(options.to, Date.now()))
        onNote?.(
          `! ${one} is left from an interrupted backup. It may contain keys of the cluster: delete it.`,
        );
      // Closes the SSH connections if the user stops the backup. A backup changes no machine, so
      // the user can stop it at any time.
      const stop = (): void => {
        source.machines.close();
      };
      options.signal?.addEventListener("abort", stop);
      return await takeBackup({ stack, ...source, onDetail, requireGoingOn }, options.to).finally(
        () => options.signal?.removeEventListener("abort", stop),
      );
    }),
  restorePlan: (stack, options) =>
    withCluster(service, stack, options, async (cluster) => {
      const { plan } = await planNow(cluster, await readBackup(options.from));
      return plan;
    }),
  restore: (stack, shown, options = {}) =>
    withCluster(service, stack, options, async (cluster) => {
      const { run, outputs, machines } = cluster;
      const { onDetail, onNote, killSignal } = options;
      // While the stack's lock is held, no `up` of another command can change the machines.
      await withStackLock(cluster, async (signal) => {
        // Reads the backup again, because its files may have changed after the plan was shown.
        const now = await planNow(cluster, await readBackup(shown.backup.directory));
        if (serializeRestoreActions(now.plan) !== serializeRestoreActions(shown))
          throw new Failure(
            "NOT_READY",
            "The machines or the backup changed after the plan was shown. Nothing was changed.",
            "Run the same command again.",
          );
        const requireGoingOn = (): void => {
          run.requireNotStopped(signal);
        };
        await restoreCluster(
          { ...now, outputs, machines },
          { onDetail, onNote, requireGoingOn, killSignal },
        );
      });
      await markControlPlaneScripts(cluster);
    }),
});
