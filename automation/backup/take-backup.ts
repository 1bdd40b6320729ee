import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Failure } from "../../base/failure.js";
import { clusterType } from "../../components/support/cluster-type.js";
import type { StateExport } from "../cluster/state.js";
import { identitiesOf } from "../cluster/state.js";
import type { ClusterOutputs, MachineOutput } from "../verify/outputs.js";
import { isWholeSnapshot, NewBackup, type Backup, type KeptFile } from "./backup-files.js";
import { controlPlanesOf, etcdOf, hasOwnEtcd } from "./groups.js";
import { keeping, type ClusterMachines } from "./machines.js";

/** What is backed up, and whom it is told. */
export interface BackupSource {
  readonly stack: string;
  readonly state: StateExport;
  readonly outputs: ClusterOutputs;
  readonly machines: Pick<ClusterMachines, "do">;
  readonly onDetail?: ((text: string) => void) | undefined;
}

const snapshotFile = "snapshot.db";

/** Of the first member that gives one: any has all data, but for the last moment. */
async function snapshotOf(
  { outputs, machines, onDetail }: BackupSource,
  backup: NewBackup,
): Promise<KeptFile & { readonly machine: string }> {
  const failures: string[] = [];
  for (const member of etcdOf(outputs)) {
    onDetail?.(`snapshot of etcd on ${member.name}`);
    try {
      const kept = await backup.write(snapshotFile, (output) =>
        machines.do(member, keeping("snapshot"), { output }),
      );
      if (await isWholeSnapshot(backup.path(snapshotFile)))
        return { ...kept, machine: member.name };
      failures.push(`${member.name}: its snapshot did not come whole.`);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Failure(
    "COMMAND_FAILED",
    `No member of etcd gives a snapshot:\n${failures.map((one) => `  ${one}`).join("\n")}`,
    "`npx stackadm status` shows the machines. Bring one of them up and run the same command again.",
  );
}

async function archiveOf(
  machine: MachineOutput,
  { machines, onDetail }: BackupSource,
  backup: NewBackup,
): Promise<KeptFile & { readonly machine: string }> {
  onDetail?.(`files of ${machine.name}`);
  const kept = await backup.write(`${machine.name}.tgz`, (output) =>
    machines.do(machine, keeping("archive"), { output }),
  );
  return { ...kept, machine: machine.name };
}

export const versionIn = ({ deployment }: StateExport): string | undefined => {
  const cluster = deployment.resources?.find(({ type }) => type === clusterType);
  const version = cluster?.outputs?.["kubernetesVersion"];
  return typeof version === "string" ? version : undefined;
};

/** Only these are needed where no machine of a kind is left: the others join. */
const archived = (outputs: ClusterOutputs): MachineOutput[] => [
  ...controlPlanesOf(outputs).slice(0, 1),
  ...(hasOwnEtcd(outputs) ? etcdOf(outputs).slice(0, 1) : []),
];

/** Takes a backup. Nothing is changed but in the directory, of which nothing is left when it fails. */
export async function takeBackup(source: BackupSource, to: string): Promise<Backup> {
  const { stack, state, outputs } = source;
  const takenAt = new Date().toISOString();
  const backup = new NewBackup(to);
  try {
    const snapshot = await snapshotOf(source, backup);
    const archives = [];
    for (const machine of archived(outputs))
      archives.push(await archiveOf(machine, source, backup));
    const kubernetesVersion = versionIn(state);
    return backup.end({
      ...{ takenAt, stack, cluster: outputs.clusterName },
      identities: [...identitiesOf(state)],
      ...(kubernetesVersion !== undefined && { kubernetesVersion }),
      ...{ snapshot, archives },
      state: await backup.write("state.json", (into) =>
        pipeline(Readable.from([JSON.stringify(state)]), into),
      ),
    });
  } catch (error) {
    backup.drop();
    throw error;
  }
}
