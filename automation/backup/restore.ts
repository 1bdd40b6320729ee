import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { CloudObject } from "../../cloud/inventory.js";
import { etcdPorts } from "../../base/ports.js";
import { Failure } from "../../base/failure.js";
import { machinesOf, type ClusterOutputs, type MachineOutput } from "../verify/outputs.js";
import { controlPlanesOf, etcdOf } from "./groups.js";
import { restoring, type ClusterMachines } from "./machines.js";
import { lookedSchema, type RestorePlan, type Seen } from "./restore-plan.js";

type Machines = Pick<ClusterMachines, "ask">;

/** Asks every machine that has etcd or an API server what it is; of one that does not answer, the servers say it. */
export async function lookAtMachines(
  outputs: ClusterOutputs,
  machines: Machines,
  servers: readonly Pick<CloudObject, "id" | "name" | "status">[],
): Promise<Map<string, Seen>> {
  const serverOf = (machine: Pick<MachineOutput, "name" | "serverId">) =>
    // What the outputs say of one that was made anew by a run that failed is its former server.
    servers.find(({ id, name }) => id === machine.serverId || name === machine.name);
  const look = async (machine: MachineOutput): Promise<Seen> => {
    const server = serverOf(machine);
    if (!server) return "gone";
    try {
      return lookedSchema.parse(JSON.parse(await machines.ask(machine, restoring("look"))));
    } catch (error) {
      const why = error instanceof Failure ? error.sentence : String(error);
      const way = machinesOf(outputs).find(({ name }) => name === machine.sshThrough);
      const behind = way && !serverOf(way) ? way.name : undefined;
      return { silent: `its server is ${server.status}, and ${why}`, behind };
    }
  };
  const all = [...new Set([...etcdOf(outputs), ...controlPlanesOf(outputs)])];
  return new Map(await Promise.all(all.map(async (one) => [one.name, await look(one)] as const)));
}

/** Every machine at once; what failed on any of them is one failure. */
async function onAll(
  machines: readonly MachineOutput[],
  work: (machine: MachineOutput) => Promise<unknown>,
): Promise<void> {
  const ended = await Promise.allSettled(machines.map(work));
  const failed = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  const [first, ...others] = failed;
  if (first === undefined) return;
  if (others.length === 0 && first instanceof Error) throw first;
  const sentences = failed.map((one) => (one instanceof Error ? one.message : String(one)));
  throw new Failure(
    "COMMAND_FAILED",
    sentences.join("\n"),
    "Mend that and run the same command again.",
  );
}

/** What goes on meanwhile. */
export interface RestoreListener {
  readonly onDetail?: ((text: string) => void) | undefined;
  /** Asked until the cluster is stopped: from then on it is brought to its end. */
  readonly requireGoingOn: () => void;
}

const until = (failure: unknown): unknown =>
  failure instanceof Failure
    ? new Failure(
        failure.code,
        failure.sentence,
        "The cluster is stopped until that is done: mend that and run the same command again.",
      )
    : failure;

/**
 * Brings a cluster back. As long as etcd can go on beside it, the data are made ready; then etcd and the API servers stop, the data take
 * their place, and they start again.
 */
export async function restore(
  { backup, unpack, members, apiServers }: RestorePlan,
  machines: Machines,
  { onDetail, requireGoingOn }: RestoreListener,
): Promise<void> {
  const from = (file: string) => ({ input: createReadStream(join(backup.directory, file)) });
  const everywhere = [...new Set([...members, ...apiServers])];
  // Members that know another token do not talk with these, should one come back.
  const token = randomUUID();
  const peers = members
    .map(({ name, address }) => `${name}=https://${address}:${etcdPorts.peers}`)
    .join(",");
  const { file, bytes } = backup.snapshot;

  requireGoingOn();
  for (const { machine, file: archive } of unpack) {
    onDetail?.(`${machine.name}: the files of its former server`);
    await machines.ask(machine, restoring("unpack"), from(archive));
  }
  requireGoingOn();
  onDetail?.("the data of the snapshot, beside those of etcd");
  await onAll(members, (one) =>
    machines.ask(one, restoring("load", token, peers, String(bytes)), from(file)),
  );
  requireGoingOn();
  const step = (text: string, which: readonly MachineOutput[], word: string): Promise<void> => {
    onDetail?.(text);
    return onAll(which, (one) => machines.ask(one, restoring(word)));
  };
  try {
    await step("etcd and the API servers stop", everywhere, "stop");
    await step("the data take their place", members, "swap");
    await step("etcd starts", members, "start-etcd");
    await step("the API servers start", apiServers, "start-api");
  } catch (error) {
    throw until(error);
  }
}
