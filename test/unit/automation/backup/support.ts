import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Task } from "../../../../automation/backup/machines.js";
import type { ClusterOutputs, MachineOutput } from "../../../../automation/verify/outputs.js";
import type { Streams } from "../../../../cloud/ssh.js";
import { Failure } from "../../../../base/failure.js";

/** What etcd writes: pages, and their digest behind them. */
export function snapshot(pages = 4): Buffer {
  const data = randomBytes(pages * 512);
  return Buffer.concat([data, createHash("sha256").update(data).digest()]);
}

const machineOf = (role: string, position: number): MachineOutput => ({
  name: `dev-${role}-${position}`,
  ...{ role, zone: "zone-a", address: `10.0.0.${role === "etcd" ? 20 + position : 10 + position}` },
  serverId: `id-of-dev-${role}-${position}`,
});

/** The outputs of a cluster with so many control planes, and machines of etcd's own. */
export const outputsOf = (controlPlanes: number, etcd = 0): ClusterOutputs => ({
  ...{ kubeconfig: "", clusterName: "dev", apiEndpoint: "", hostKeys: [] },
  nodes: [
    ...Array.from({ length: controlPlanes }, (_, at) => machineOf("control-plane", at)),
    { ...machineOf("general", 0), role: "worker" },
  ],
  etcd: Array.from({ length: etcd }, (_, at) => machineOf("etcd", at)),
});

/** What a machine was asked for, and with what. */
interface Asked {
  readonly machine: string;
  readonly words: readonly string[];
  readonly input: string;
}

/** Machines that answer as they are told, and keep what they were asked. */
export class FakeMachines {
  readonly asked: Asked[] = [];
  readonly answers = new Map<string, string | Buffer | Error>();

  /** `what`: "<machine> <word>" or "<word>". */
  on(what: string, answer: string | Buffer | Error): void {
    this.answers.set(what, answer);
  }

  async do(machine: MachineOutput, task: Task, streams: Streams): Promise<void> {
    streams.output.end(await this.#answer(machine, task, streams));
    await new Promise((done) => streams.output.once("close", done));
  }

  async ask(machine: MachineOutput, task: Task, streams: Partial<Streams> = {}): Promise<string> {
    return String(await this.#answer(machine, task, streams));
  }

  async #answer(
    { name }: MachineOutput,
    { words }: Task,
    { input }: Partial<Streams>,
  ): Promise<string | Buffer> {
    // In the order of the questions, however long each takes to be read.
    const asked = { machine: name, words, input: "" };
    this.asked.push(asked);
    for await (const part of input ?? []) asked.input += String(part);
    const [word = ""] = words;
    const answer = this.answers.get(`${name} ${word}`) ?? this.answers.get(word) ?? "";
    if (answer instanceof Error) throw answer;
    return answer;
  }

  /** The words, each with its machine, in order. */
  get order(): string[] {
    return this.asked.map(({ machine, words }) => `${words[0] ?? ""} ${machine}`);
  }
}

export const unreachable = new Failure(
  "SSH_UNREACHABLE",
  "it cannot be reached by SSH: timed out.",
);

/** A directory of the test's own. */
export class Scratch {
  readonly path = mkdtempSync(join(tmpdir(), "stackadm-backup-"));
  in(name: string): string {
    return join(this.path, name);
  }
  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}
