import { withStep } from "../../../base/progress.js";
import type { BackupRunOptions } from "../../backup/backup-service.js";
import { createBackupService, type BackupService } from "../../backup/backup-service.js";
import type { Backup, BackupFile } from "../../backup/backup-files.js";
import { formatTable } from "../../../base/terminal/table.js";
import {
  createClusterReporter,
  getStopSignals,
  withStack,
  type StackContext,
  type StackOptions,
} from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly to?: string;
}

export const createStackBackupService = ({ environment, project }: StackContext): BackupService =>
  createBackupService({
    env: environment.env,
    backend: environment.backend,
    projectDirectory: project.directory,
    program: project.program,
  });

/** Returns the callbacks and stop signals for a request to the backup service. */
export const createBackupRunOptions = (context: StackContext): BackupRunOptions => ({
  ...getStopSignals(context),
  ...createClusterReporter(context),
  onNote: (text) => {
    context.session.progress.note(text);
  },
});

/** Formats a time for file names: the names sort by time, and are valid in every file system. */
const timeIn = (now: Date): string =>
  now
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "-");

const sizeOf = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.ceil(bytes / 1024 / 1024)} MiB`;

function backupTable({ snapshot, archives, state }: Backup): string {
  const row = ({ file, bytes }: BackupFile, what: string): string[] => [file, sizeOf(bytes), what];
  return formatTable(
    ["FILE", "SIZE", "WHAT"],
    [
      row(snapshot, `etcd's data, from ${snapshot.machine}`),
      ...archives.map((one) => row(one, `keys and configuration of ${one.machine}`)),
      row(state, "the stack's state; its secrets are encrypted"),
    ],
  );
}

export function runBackupCommand(session: CommandSession, options: Options): Promise<number> {
  return withStack(session, options, async (context) => {
    const { stack } = context;
    const { to = `backups/${stack}-${timeIn(new Date())}` } = options;
    const backup = await withStep(
      session.progress,
      `Back up the cluster of '${stack}'`,
      15,
      (step) =>
        createStackBackupService(context).backup(stack, {
          ...createBackupRunOptions(context),
          to,
          onDetail: (text) => {
            step.update(text);
          },
        }),
    );
    const { directory, takenAt, cluster, snapshot, archives, state } = backup;
    session.print(`${backupTable(backup)}\n\n${directory}`);
    if (!snapshot.majority)
      session.progress.note(
        `! etcd has no majority: the backup has the data of ${snapshot.machine} only and may lack what other members have.`,
      );
    session.progress.note(
      "A backup gives full access to the cluster: store it where only you can read it. Keep the passphrase, too, but in another place.",
    );
    const files = [snapshot, ...archives, state].map(({ file, bytes }) => ({ file, bytes }));
    const { majority } = snapshot;
    session.emit({ type: "result", ok: true, stack, cluster, takenAt, directory, majority, files });
    return 0;
  });
}
