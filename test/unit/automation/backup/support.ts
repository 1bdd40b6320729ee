import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MachineProgram } from "../../../../automation/backup/machine-programs.js";
import type {
  ClusterOutputs,
  MachineOutput,
} from "../../../../automation/verify/cluster-outputs.js";
import type { RemoteCommandStreams } from "../../../../base/ssh-client.js";
import { Failure } from "../../../../base/failures/failure.js";

/** Returns a file in the format of an etcd snapshot: pages, followed by their digest. */
export function snapshot(pages = 4): Buffer {
  const data = randomBytes(pages * 512);
  return Buffer.concat([data, createHash("sha256").update(data).digest()]);
}

const machineOf = (role: string, position: number): MachineOutput => ({
  name: `dev-${role}-${position}`,
  role,
  zone: "zone-a",
  address: `10.0.0.${role === "etcd" ? 20 + position : 10 + position}`,
  serverId: `id-of-dev-${role}-${position}`,
});

/**
 * Returns the outputs of a cluster with this number of control planes and of separate etcd
 * machines.
 */
export const outputsOf = (controlPlanes: number, etcd = 0): ClusterOutputs => ({
  kubeconfig: "",
  clusterName: "dev",
  apiEndpoint: "",
  hostKeys: [],
  nodes: [
    ...Array.from({ length: controlPlanes }, (_, at) => machineOf("control-plane", at)),
    { ...machineOf("general", 0), role: "worker" },
  ],
  etcd: Array.from({ length: etcd }, (_, at) => machineOf("etcd", at)),
});

/** Task that a machine received, with its input. */
interface Asked {
  readonly machine: string;
  readonly words: readonly string[];
  readonly input: string;
}

/** Fake machines with given answers, which record their tasks. */
export class FakeMachines {
  readonly asked: Asked[] = [];
  readonly answers = new Map<string, string | Buffer | Error>();

  /** Sets an answer. `what` is "<machine> <word>" or "<word>". */
  on(what: string, answer: string | Buffer | Error): void {
    this.answers.set(what, answer);
  }

  async runOnMachine(
    machine: MachineOutput,
    task: MachineProgram,
    streams: RemoteCommandStreams,
  ): Promise<void> {
    streams.output.end(await this.#answer(machine, task, streams));
    await new Promise((done) => streams.output.once("close", done));
  }

  async readOutput(
    machine: MachineOutput,
    task: MachineProgram,
    streams: Partial<RemoteCommandStreams> = {},
  ): Promise<string> {
    return String(await this.#answer(machine, task, streams));
  }

  async #answer(
    { name }: MachineOutput,
    { words }: MachineProgram,
    { input }: Partial<RemoteCommandStreams>,
  ): Promise<string | Buffer> {
    // Recorded before the input is read, so that the order is that of the tasks.
    const asked = { machine: name, words, input: "" };
    this.asked.push(asked);
    for await (const part of input ?? []) asked.input += String(part);
    const [word = ""] = words;
    const answer = this.answers.get(`${name} ${word}`) ?? this.answers.get(word) ?? "";
    if (answer instanceof Error) throw answer;
    return answer;
  }

  /** Returns the first word of each task with its machine, in order. */
  get order(): string[] {
    return this.asked.map(({ machine, words }) => `${words[0] ?? ""} ${machine}`);
  }
}

export const unreachable = new Failure(
  "SSH_UNREACHABLE",
  "it cannot be reached by SSH: timed out.",
);

/** Temporary directory of a test. */
export class Scratch {
  readonly path = mkdtempSync(join(tmpdir(), "stackadm-backup-"));
  in(name: string): string {
    return join(this.path, name);
  }
  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}
