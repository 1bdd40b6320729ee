import { listObjects } from "../../cloud/inventory.js";
import { requireFree } from "../cluster/unlock.js";
import type { ClusterServiceOptions, RunOptions } from "../cluster/options.js";
import { ClusterError } from "../cluster/cluster-error.js";
import { Run } from "../cluster/run.js";
import { heldBy, identitiesOf, readOutputs, type StateExport } from "../cluster/state.js";
import { withoutSecrets } from "../cluster/redact.js";
import { unlessStopped } from "../cluster/stop.js";
import { beginWithOurs } from "../cluster/which-cluster.js";
import { parseOutputs, type ClusterOutputs } from "../verify/outputs.js";
import { brokenOffBeside, readBackup, type Backup } from "./backup-files.js";
import { withoutOthers } from "./groups.js";
import { heldToItsEnd, rememberControlPlanes } from "./held.js";
import { ClusterMachines } from "./machines.js";
import { lookAtMachines, restore, type RestoreTarget } from "./restore.js";
import { gistOf, planRestore, requireSameCluster, type RestorePlan } from "./restore-plan.js";
import { takeBackup, versionIn } from "./take-backup.js";

/** What every request about a backup is told. */
export interface BackupRunOptions extends Pick<
  RunOptions,
  "onCluster" | "onNote" | "signal" | "killSignal" | "settings"
> {
  /** What is done now, in a few words. */
  readonly onDetail?: (text: string) => void;
}

export interface BackupOptions extends BackupRunOptions {
  /** The directory that becomes the backup; nothing of that name may be there. */
  readonly to: string;
}

export interface RestorePlanOptions extends BackupRunOptions {
  /** A directory that `backup` made. */
  readonly from: string;
}

/** What is needed to bring a cluster back, and how that is done. Over SSH, without the cluster's API. */
export interface BackupService {
  /**
   * Takes etcd's data, the files of a control plane and the stack's state into a directory, which then holds the keys of the cluster.
   * Nothing is changed. Also where etcd has lost its majority. Where no machine gives its files, etcd's data and the state are kept there
   * and it throws COMMAND_FAILED.
   */
  backup(stack: string, options: BackupOptions): Promise<Backup>;
  /** Says what would bring the cluster back, as its machines are now. Nothing is changed. Throws NOT_READY with all that is in the way. */
  restorePlan(stack: string, options: RestorePlanOptions): Promise<RestorePlan>;
  /**
   * Brings etcd back to the backup: what came into Kubernetes after it is lost. Asks nobody. Once etcd is stopped, only `killSignal` ends
   * it; the same once more goes on.
   */
  restore(stack: string, plan: RestorePlan, options?: BackupRunOptions): Promise<void>;
}

interface Cluster {
  readonly run: Run;
  readonly state: StateExport;
  readonly outputs: ClusterOutputs;
  readonly machines: ClusterMachines;
}

/** One request about the cluster of a stack. */
async function withCluster<T>(
  service: ClusterServiceOptions,
  stack: string,
  options: BackupRunOptions,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const run = new Run(service, stack, options);
  let machines: ClusterMachines | undefined;
  const end = (): void => machines?.close();
  try {
    await requireFree(run);
    const state = await beginWithOurs(run);
    if (state === undefined)
      throw new ClusterError("STACK_NOT_FOUND", `There is no stack '${stack}' in this backend.`);
    const outputs = parseOutputs(await readOutputs(run.access));
    machines = await ClusterMachines.of(run, outputs);
    options.killSignal?.addEventListener("abort", end);
    return await work({ run, state, outputs, machines });
  } catch (error) {
    throw withoutSecrets(unlessStopped(error, options.signal), service.env);
  } finally {
    options.killSignal?.removeEventListener("abort", end);
    end();
    run.close();
  }
}

/** What would bring the cluster back now, and with which servers. */
async function planNow(
  { run, state, outputs, machines }: Cluster,
  backup: Backup,
): Promise<Pick<RestoreTarget, "plan" | "servers">> {
  requireSameCluster(backup, {
    cluster: outputs.clusterName,
    identities: identitiesOf(state),
    kubernetesVersion: versionIn(state),
  });
  const servers = withoutOthers(await listObjects(await run.cloud(), "server"), heldBy(state));
  const seen = await lookAtMachines(outputs, machines, servers);
  return { plan: planRestore({ backup, outputs, seen }), servers };
}

export const createBackupService = (service: ClusterServiceOptions): BackupService => ({
  backup: (stack, options) =>
    withCluster(service, stack, options, ({ run, ...source }) => {
      // Nothing is half done when it ends so.
      options.signal?.addEventListener("abort", () => {
        source.machines.close();
      });
      const requireGoingOn = (): void => {
        run.requireNotStopped();
      };
      requireGoingOn();
      const { onDetail, onNote } = options;
      for (const one of brokenOffBeside(options.to, Date.now()))
        onNote?.(
          `! ${one} is what a backup left that was broken off. It may have keys of the cluster: delete it.`,
        );
      return takeBackup({ stack, ...source, onDetail, requireGoingOn }, options.to);
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
      // Nobody else's `up` works on the machines meanwhile.
      await heldToItsEnd(cluster, async (signal) => {
        // As the files are now, too.
        const now = await planNow(cluster, await readBackup(shown.backup.directory));
        if (gistOf(now.plan) !== gistOf(shown))
          throw new ClusterError(
            "NOT_READY",
            "The machines or the backup are not as they were when it was said what would be done. Nothing was changed.",
            "Run the same command again.",
          );
        const requireGoingOn = (): void => {
          run.requireNotStopped(signal);
        };
        await restore(
          { ...now, outputs, machines },
          { onDetail, onNote, requireGoingOn, killSignal },
        );
      });
      await rememberControlPlanes(cluster);
    }),
});
