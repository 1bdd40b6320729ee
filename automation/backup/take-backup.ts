import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { Failure } from "../../base/failures/failure.js";
import { clusterType } from "../../components/pulumi/cluster-type.js";
import type { StateExport } from "../pulumi/stack-state.js";
import { findClusterIdentities } from "../pulumi/stack-state.js";
import type { ClusterOutputs, MachineOutput } from "../verify/cluster-outputs.js";
import {
  isCompleteSnapshot,
  NewBackup,
  type Backup,
  type BackupDescription,
} from "./backup-files.js";
import { getControlPlanes, getEtcdMemberMachines, hasEtcdMachines } from "./machines-by-role.js";
import {
  createBackupProgram,
  getErrorMessage,
  type ClusterMachines,
  type StaticPodName,
} from "./machine-programs.js";

/** Cluster to back up, and callbacks. */
export interface BackupSource {
  readonly stack: string;
  readonly state: StateExport;
  readonly outputs: ClusterOutputs;
  readonly machines: Pick<ClusterMachines, "runOnMachine" | "readOutput">;
  readonly onDetail?: ((text: string) => void) | undefined;
  /** Throws if the user requested a stop. */
  readonly requireGoingOn: () => void;
}

const snapshotFile = "snapshot.db";

const standingSchema = z.object({ majority: z.boolean(), index: z.number() });

interface Standing extends z.infer<typeof standingSchema> {
  readonly member: MachineOutput;
}

/**
 * Returns the etcd members that answer, the best member first. A member that reaches a majority has
 * all data. If no member reaches a majority, the member with the highest Raft index is best.
 */
async function standingsOf(
  { outputs, machines }: BackupSource,
  failures: string[],
): Promise<Standing[]> {
  const asked = await Promise.all(
    getEtcdMemberMachines(outputs).map(async (member): Promise<Standing[]> => {
      try {
        const standingJson = await machines.readOutput(member, createBackupProgram("standing"));
        return [{ member, ...standingSchema.parse(JSON.parse(standingJson)) }];
      } catch (error) {
        failures.push(getErrorMessage(error));
        return [];
      }
    }),
  );
  const rank = ({ majority, index }: Standing): number =>
    majority ? Number.POSITIVE_INFINITY : index;
  return asked.flat().toSorted((one, other) => {
    const [first, second] = [rank(one), rank(other)];
    return first === second ? 0 : second - first;
  });
}

/**
 * Saves a snapshot of the best etcd member that can provide a complete snapshot. Throws
 * COMMAND_FAILED if no member can.
 */
async function snapshotOf(
  source: BackupSource,
  backup: NewBackup,
): Promise<BackupDescription["snapshot"]> {
  const { machines, onDetail, requireGoingOn } = source;
  const failures: string[] = [];
  const standings = await standingsOf(source, failures);
  const went = standings.filter(({ majority }) => majority);
  // If some members reach a majority, asks only these members. The data of other members may be
  // outdated.
  for (const { member, majority } of went.length > 0 ? went : standings) {
    requireGoingOn();
    onDetail?.(`snapshot of etcd on ${member.name}`);
    try {
      const kept = await backup.write(snapshotFile, (output) =>
        machines.runOnMachine(member, createBackupProgram("snapshot"), { output }),
      );
      if (await isCompleteSnapshot(backup.path(snapshotFile)))
        return { ...kept, machine: member.name, majority };
      failures.push(`${member.name}: its snapshot is incomplete.`);
    } catch (error) {
      failures.push(getErrorMessage(error));
    }
  }
  requireGoingOn();
  throw new Failure(
    "COMMAND_FAILED",
    `No member of etcd${went.length > 0 ? " with a majority" : ""} provides a snapshot:\n${failures.map((one) => `  ${one}`).join("\n")}`,
    "`stackadm status` shows the machines. Start one of them and run the same command again.",
  );
}

/** Machines with the same set of files to back up, and the static pods that each machine runs. */
interface Kind {
  readonly machines: readonly MachineOutput[];
  readonly pods: readonly StaticPodName[];
}

function kindsOf(outputs: ClusterOutputs): Kind[] {
  const machines = getControlPlanes(outputs);
  return hasEtcdMachines(outputs)
    ? [
        { machines, pods: ["kube-apiserver"] },
        { machines: getEtcdMemberMachines(outputs), pods: ["etcd"] },
      ]
    : [{ machines, pods: ["etcd", "kube-apiserver"] }];
}

/**
 * Saves an archive of the first machine that can provide its files. One archive is enough, because
 * the other machines can join the restored machine. Returns the failure if no machine can provide
 * its files.
 */
async function archiveOf(
  { machines: kind, pods }: Kind,
  { machines, onDetail, requireGoingOn }: BackupSource,
  backup: NewBackup,
): Promise<BackupDescription["archives"][number] | Failure> {
  const failures: string[] = [];
  for (const machine of kind) {
    requireGoingOn();
    onDetail?.(`files of ${machine.name}`);
    try {
      const kept = await backup.write(`${machine.name}.tgz`, (output) =>
        machines.runOnMachine(machine, createBackupProgram("archive", ...pods), { output }),
      );
      return { ...kept, machine: machine.name };
    } catch (error) {
      backup.deleteFile(`${machine.name}.tgz`);
      failures.push(getErrorMessage(error));
    }
  }
  requireGoingOn();
  return new Failure(
    "COMMAND_FAILED",
    `No machine provides the files of ${pods.join(" and ")}:\n${failures.map((one) => `  ${one}`).join("\n")}`,
  );
}

/**
 * Returns the Kubernetes version in the state. Undefined unless the state has exactly one cluster.
 */
export const getRecordedKubernetesVersion = ({ deployment }: StateExport): string | undefined => {
  const clusters = (deployment.resources ?? []).filter(({ type }) => type === clusterType);
  const [cluster] = clusters;
  const version = clusters.length === 1 ? cluster?.outputs?.["kubernetesVersion"] : undefined;
  return typeof version === "string" ? version : undefined;
};

/**
 * Returns the failure for missing archives. A backup without archives is still useful: etcd's data
 * can be restored as long as the machines have their keys.
 */
const withoutArchives = (directory: string, failures: readonly Failure[]): Failure =>
  new Failure(
    "COMMAND_FAILED",
    `${directory} has etcd's data and the state, but lacks files that replace lost machines:\n${failures.map(({ sentence }) => sentence).join("\n")}`,
    "`stackadm status` shows the machines. Start one of them and take another backup; until then keep an earlier backup, too.",
  );

/**
 * Takes a backup. Writes only to the directory `to`. If archives are missing, keeps the directory
 * and throws. After any other failure, deletes the directory.
 */
export async function takeBackup(source: BackupSource, to: string): Promise<Backup> {
  const { stack, state, outputs } = source;
  const takenAt = new Date().toISOString();
  const backup = new NewBackup(to);
  const missing: Failure[] = [];
  let result: Backup;
  try {
    const snapshot = await snapshotOf(source, backup);
    const archives: BackupDescription["archives"] = [];
    for (const kind of kindsOf(outputs)) {
      const archive = await archiveOf(kind, source, backup);
      if (archive instanceof Failure) missing.push(archive);
      else archives.push(archive);
    }
    const kubernetesVersion = getRecordedKubernetesVersion(state);
    const kept = await backup.write("state.json", (into) =>
      pipeline(Readable.from([JSON.stringify(state)]), into),
    );
    result = await backup.complete({
      takenAt,
      stack,
      cluster: outputs.clusterName,
      identities: [...findClusterIdentities(state)],
      ...(kubernetesVersion !== undefined && { kubernetesVersion }),
      snapshot,
      archives,
      state: kept,
    });
  } catch (error) {
    backup.discard();
    throw error;
  }
  if (missing.length > 0) throw withoutArchives(result.directory, missing);
  return result;
}
