import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../base/run-command.js";
import type { ClusterOutputs } from "../../../automation/verify/cluster-outputs.js";
import type { Shell } from "../../lab/support/machines/machines.js";

type Machine = ClusterOutputs["nodes"][number];

/**
 * SSH connections of a test to its machines, with the user's SSH key. One connection to each
 * machine is kept open, because each handshake with an emulated machine takes seconds.
 */
export class RootShells {
  readonly #folder = mkdtempSync(join(tmpdir(), "shells-"));

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** Returns a shell that runs lines as root on a machine of the cluster. */
  shell(machine: Machine, { nodes }: ClusterOutputs): Shell {
    const user = machine.sshUser ?? "debian";
    const entry = nodes.find(({ sshHost }) => sshHost !== undefined);
    const through = machine.sshHost === undefined ? entry : undefined;
    const words = [
      ...this.#options(machine),
      // Connects through the jump host. The jump host has a separate connection.
      ...(through === undefined ? [] : ["-o", `ProxyCommand=${this.#proxy(through)}`]),
      `${user}@${machine.sshHost ?? machine.address}`,
    ];
    return async (line, input) => {
      const command = `sudo -n bash -c '${line.replaceAll("'", `'\\''`)}'`;
      const { stdout } = await run("ssh", [...words, command], {
        input: input ?? "",
        env: this.env,
      });
      return stdout;
    };
  }

  #proxy(machine: Machine): string {
    const user = machine.sshUser ?? "debian";
    const host = machine.sshHost ?? machine.address;
    return ["ssh", ...this.#options(machine), "-W", "%h:%p", `${user}@${host}`].join(" ");
  }

  #options({ serverId }: Machine): string[] {
    return [
      ...["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"],
      ...["-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=20"],
      // A machine that reboots does not close the connection, so ssh must notice the loss itself.
      ...["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=4"],
      ...["-o", "ControlMaster=auto", "-o", "ControlPersist=120"],
      ...["-o", `ControlPath=${join(this.#folder, serverId.slice(0, 8))}`],
    ];
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
