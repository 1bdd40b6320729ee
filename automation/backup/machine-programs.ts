import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { patientKeepalive, type RemoteCommandStreams } from "../../base/ssh-client.js";
import { quoteForShell } from "../../components/remote-scripts/shell-quoting.js";
import { Failure } from "../../base/failures/failure.js";
import type { StackOperation } from "../engine/operation-context.js";
import {
  findSshRoute,
  type ClusterOutputs,
  type MachineOutput,
} from "../verify/cluster-outputs.js";
import { commandSilenceMilliseconds, SshSessions } from "../verify/ssh-sessions.js";
import { AfterLine } from "./after-line.js";

const read = (name: string): string => readFileSync(join(__dirname, "scripts", name), "utf8");

/** Bash programs that run on the machines. The first argument of a program selects its task. */
export const backupScript = read("collect-backup.sh");
export const restoreScript =
  read("../../../components/remote-scripts/scripts/download-errors.sh") +
  read("reregister-nodes.sh") +
  read("restore.sh");

/** Bash program and its arguments. */
export interface MachineProgram {
  readonly script: string;
  readonly words: readonly string[];
}

/** Returns the message of a thrown value. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Static pods whose manifests and keys a backup contains. */
export type StaticPodName = "etcd" | "kube-apiserver";

/** Returns the program that prints one part of a backup. */
export const createBackupProgram = (
  ...words: readonly ["standing" | "snapshot"] | readonly ["archive", ...StaticPodName[]]
): MachineProgram => ({
  script: backupScript,
  words,
});
export const createRestoreProgram = (...words: readonly string[]): MachineProgram => ({
  script: restoreScript,
  words,
});

/**
 * Returns the command that runs the program as root. The script is an argument of bash, because
 * standard input transports data. The program's output begins after the line `mark`.
 */
const commandOf = ({ script, words }: MachineProgram, mark: string): string => {
  const marked = `echo ${mark}\n${script}`;
  return ["sudo -n bash -c", quoteForShell(marked), "stackadm", ...words.map(quoteForShell)].join(
    " ",
  );
};

/**
 * Returns why a script failed, as sentences from the script's output. The script prints the reason
 * in its last line `reason: ...`. The line before the reason is added, because it may be a tool's
 * message. Without a line `reason: ...`, the last line is the reason.
 */
function reasonIn(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const reasonIndex = lines.findLastIndex((line) => line.startsWith("reason: "));
  const tool = lines
    .slice(0, Math.max(reasonIndex, 0))
    .findLast((line) => !line.startsWith("reason: "));
  const reason =
    lines[reasonIndex]?.slice("reason: ".length) ?? lines.at(-1) ?? "it printed nothing";
  return `${reason.replace(/\.?$/, ".")}${tool === undefined ? "" : ` The last output before: ${tool.slice(0, 300)}`}`;
}

/**
 * Machines of one cluster. The cluster's outputs contain the SSH routes to the machines. All calls
 * for a machine use the same SSH session.
 */
export class ClusterMachines {
  constructor(
    private readonly outputs: ClusterOutputs,
    private readonly login: { readonly user: string; readonly agentSocket: string },
    private readonly sessions: Pick<SshSessions, "execute" | "close"> = new SshSessions(
      patientKeepalive,
    ),
  ) {}

  static async forStack(run: StackOperation, outputs: ClusterOutputs): Promise<ClusterMachines> {
    // The settings may be invalid, or absent because a custom program defines the cluster. A backup
    // must be possible in these cases, so the backup uses the default login name.
    const { ssh, timeoutFactor = 1 } = (await run.spec().catch(() => undefined)) ?? {};
    const agentSocket = run.service.env["SSH_AUTH_SOCK"] ?? "";
    return new ClusterMachines(
      outputs,
      { user: ssh?.user ?? "debian", agentSocket },
      new SshSessions(patientKeepalive, commandSilenceMilliseconds * timeoutFactor),
    );
  }

  /**
   * Runs the program on the machine. Throws SSH_UNREACHABLE or HOST_KEY_MISMATCH. If the script
   * fails, throws COMMAND_FAILED with the script's reason.
   */
  async runOnMachine(
    machine: MachineOutput,
    task: MachineProgram,
    streams: RemoteCommandStreams,
  ): Promise<void> {
    const target = findSshRoute(machine, this.outputs, this.login);
    if (!target)
      throw new Failure(
        "SSH_UNREACHABLE",
        `${machine.name} cannot be reached by SSH: no route to it or no host key is known.`,
      );
    // The login shell of the machine may print a greeting before the data. The mark is random, so
    // that the greeting cannot contain it.
    const data = new AfterLine(randomBytes(16).toString("hex"));
    const command = commandOf(task, data.line);
    const running = this.sessions.execute(target, command, { ...streams, output: data });
    running.catch((error: unknown) => data.destroy(error instanceof Error ? error : undefined));
    const [{ code, said }] = await Promise.all([running, pipeline(data, streams.output)]);
    if (code === 0 && data.hasBegun) return;
    if (code === undefined)
      throw new Failure(
        "SSH_UNREACHABLE",
        `The connection to ${machine.name} ended before the script ended.`,
      );
    throw new Failure(
      "COMMAND_FAILED",
      `${machine.name}: ${code === 0 ? "the program printed no data." : reasonIn(said)}`,
      "Correct the cause and run the same command again.",
    );
  }

  /** Runs the program on the machine and returns its output. */
  async readOutput(
    machine: MachineOutput,
    task: MachineProgram,
    input?: Pick<RemoteCommandStreams, "input">,
  ): Promise<string> {
    const parts: Buffer[] = [];
    const output = new Writable({
      write: (part: Buffer, _, done) => {
        parts.push(part);
        done();
      },
    });
    await this.runOnMachine(machine, task, { ...input, output });
    return Buffer.concat(parts).toString("utf8");
  }

  close(): void {
    this.sessions.close();
  }
}
