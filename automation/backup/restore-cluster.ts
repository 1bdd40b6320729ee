import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as after } from "node:timers/promises";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { Failure } from "../../base/failures/failure.js";
import { getMachines, type ClusterOutputs, type MachineOutput } from "../verify/cluster-outputs.js";
import { getControlPlanes, getEtcdMemberMachines, getEtcdPeerUrl } from "./machines-by-role.js";
import { createRestoreProgram, getErrorMessage, type ClusterMachines } from "./machine-programs.js";
import { machineStateSchema, type RestorePlan, type MachineReply } from "./restore-plan.js";

type Machines = Pick<ClusterMachines, "readOutput">;
type Servers = readonly Pick<CloudObject, "id" | "name" | "status">[];

/**
 * Returns the server of a machine. Searches for the server ID in the outputs first, and then for
 * the machine's name. After a failed run that recreated the machine, the outputs still have the ID
 * of the deleted server.
 */
const serverOf = (
  servers: Servers,
  machine: Pick<MachineOutput, "name" | "serverId">,
): Servers[number] | undefined =>
  servers.find(({ id }) => id === machine.serverId) ??
  servers.find(({ name }) => name === machine.name);

/**
 * Asks every machine with etcd or an API server for its state. The entry of a machine that does not
 * answer has the reason and the status of the machine's server in Nova. The entry is `gone` if Nova
 * has no such server.
 */
export async function readMachineStates(
  outputs: ClusterOutputs,
  machines: Machines,
  servers: Servers,
): Promise<Map<string, MachineReply>> {
  const askForState = async (machine: MachineOutput): Promise<MachineReply> => {
    const server = serverOf(servers, machine);
    if (!server) return "gone";
    try {
      return machineStateSchema.parse(
        JSON.parse(await machines.readOutput(machine, createRestoreProgram("look"))),
      );
    } catch (error) {
      const why = error instanceof Failure ? error.sentence : String(error);
      const jumpHost = getMachines(outputs).find(({ name }) => name === machine.sshThrough);
      const behind = jumpHost && !serverOf(servers, jumpHost) ? jumpHost.name : undefined;
      return { silent: `its server is ${server.status}, and ${why}`, behind };
    }
  };
  const all = [...new Set([...getEtcdMemberMachines(outputs), ...getControlPlanes(outputs)])];
  return new Map(
    await Promise.all(all.map(async (one) => [one.name, await askForState(one)] as const)),
  );
}

/**
 * Calls `work` for all machines at the same time. After all calls, throws one error with all
 * failures.
 */
async function onAll<T>(
  machines: readonly MachineOutput[],
  work: (machine: MachineOutput) => Promise<T>,
): Promise<T[]> {
  const ended = await Promise.allSettled(machines.map(work));
  const failed = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  const [first, ...others] = failed;
  if (others.length === 0 && first instanceof Error) throw first;
  if (first !== undefined)
    throw new Failure(
      "COMMAND_FAILED",
      failed.map(getErrorMessage).join("\n"),
      "Correct the cause and run the same command again.",
    );
  return ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/** Callbacks and signals of a restore. */
export interface RestoreListener {
  readonly onDetail?: ((text: string) => void) | undefined;
  /** Called with a sentence about each failure that does not end the restore. */
  readonly onNote?: ((text: string) => void) | undefined;
  /**
   * Throws if the user requested a stop. Called only before etcd is stopped. After etcd is stopped,
   * only `killSignal` ends the restore early.
   */
  readonly requireGoingOn: () => void;
  /** Signal that ends the restore at once. */
  readonly killSignal?: AbortSignal | undefined;
  /** Waits for a number of milliseconds. Tests replace this function. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Retries of each step after the preparation: number of tries, and milliseconds between two tries.
 */
const persistence = { tries: 3, pause: 5_000 };

/** Returns whether the connection failed. Any other error is a failure that the script reported. */
const isLost = (error: unknown): boolean =>
  !(error instanceof Failure) || ["SSH_UNREACHABLE", "FAILED"].includes(error.code);

/**
 * Calls `work`, and calls it again if the connection failed. The script of the first call may still
 * run on the machine. In this case, the script of the second call waits on the machine until the
 * first script has ended.
 */
async function withRetries(
  work: () => Promise<string>,
  { killSignal, pause = after }: RestoreListener,
): Promise<string> {
  for (let times = 1; ; times += 1) {
    try {
      return await work();
    } catch (error) {
      if (times >= persistence.tries || !isLost(error) || killSignal?.aborted === true) throw error;
    }
    await pause(persistence.pause);
  }
}

export interface RestoreTarget {
  readonly plan: RestorePlan;
  readonly outputs: ClusterOutputs;
  readonly machines: Machines;
  readonly servers: Servers;
}

/**
 * Returns the failure of a restore that fails after etcd was stopped. The code is never CANCELLED,
 * because CANCELLED would mean that the cluster still runs.
 */
const stoppedCluster = (error: unknown): Failure =>
  new Failure(
    "COMMAND_FAILED",
    getErrorMessage(error),
    "etcd and the API are stopped, in part or all, until the restore succeeds: correct the cause and run the same command again.",
  );

const unsettled =
  "Another restore would find this restore unfinished: delete /var/lib/etcd/member/stackadm-restored and /var/lib/stackadm/restore-digest on the machine.";

/**
 * Returns the failure of a restore that fails after files were unpacked and before etcd is stopped.
 * The original message could say that nothing was changed, which is wrong.
 */
function afterUnpacking(error: unknown, { unpack }: RestorePlan): Failure {
  const { code, hint } = error instanceof Failure ? error : new Failure("COMMAND_FAILED", "");
  const why = code === "CANCELLED" ? "Stopped on request." : getErrorMessage(error);
  const names = unpack.map(({ machine }) => machine.name).join(", ");
  return new Failure(
    code,
    `${why}\n${names}: files of the former server are restored in part or whole, but etcd's data are not. Nothing else was changed.`,
    hint,
  );
}

const noted = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.startsWith("note: ") ? [line.slice(6)] : []));

/** Returns a file of the backup as a stream. The file is opened when the stream is read. */
const read = (plan: RestorePlan, file: string): { readonly input: Readable } => ({
  input: Readable.from(parts(join(plan.backup.directory, file))),
});

async function* parts(path: string): AsyncGenerator {
  yield* createReadStream(path);
}

/**
 * Returns the revision at which etcd continues: microseconds since 1970. This revision is higher
 * than any revision that a client has seen, even after earlier restores, because etcd writes less
 * than once per microsecond. The number fits into int64 and is exact in JSON.
 */
const revisionAt = (now: number): number => now * 1000;

/**
 * Prepares the machines while etcd still runs: unpacks archives, and writes the snapshot's data to
 * disk.
 */
async function prepareData(
  { plan, machines }: RestoreTarget,
  { onDetail, requireGoingOn }: RestoreListener,
  token: string,
): Promise<void> {
  requireGoingOn();
  for (const { machine, file, sha256 } of plan.unpack) {
    onDetail?.(`${machine.name}: restoring the files of its former server`);
    await machines.readOutput(machine, createRestoreProgram("unpack", sha256), read(plan, file));
  }
  if (plan.members.length === 0) {
    requireGoingOn();
    return;
  }
  onDetail?.("loading the snapshot's data");
  const members = plan.members.map((one) => `${one.name}=${getEtcdPeerUrl(one)}`).join(",");
  const { file, bytes } = plan.backup.snapshot;
  const revision = revisionAt(Date.now());
  try {
    await onAll(plan.members, (one) =>
      machines.readOutput(
        one,
        createRestoreProgram("load", token, members, String(bytes), String(revision)),
        read(plan, file),
      ),
    );
    requireGoingOn();
  } catch (error) {
    // Deletes the loaded data of the snapshot, because these data need as much disk space as etcd's
    // data.
    await onAll(plan.members, (one) =>
      machines.readOutput(one, createRestoreProgram("tidy")),
    ).catch(() => undefined);
    throw error;
  }
}

/**
 * Registers workers as nodes again: each worker without a node in the restored data, and each
 * worker whose node belongs to the worker's former server.
 */
async function renewWorkers(
  { plan, outputs, machines, servers }: RestoreTarget,
  { onDetail, onNote }: RestoreListener,
): Promise<void> {
  const [api] = plan.apiServers;
  if (!api) return;
  onDetail?.("registering workers that joined after the backup");
  const lines = (await machines.readOutput(api, createRestoreProgram("nodes"))).split("\n");
  const known = new Map(lines.map((line) => [line.split(" ")[0] ?? "", line.split(" ")[1]]));
  const controlPlanes = getControlPlanes(outputs);
  const others = outputs.nodes
    .filter((one) => !controlPlanes.includes(one))
    .flatMap((node) => {
      const server = serverOf(servers, node);
      const wanted = server && `openstack:///${server.id}`;
      return wanted === undefined || known.get(node.name) === wanted ? [] : [node];
    });
  await Promise.all(
    others.map(async (node) => {
      try {
        if (known.has(node.name))
          await machines.readOutput(api, createRestoreProgram("forget-node", node.name));
        await machines.readOutput(node, createRestoreProgram("register"));
      } catch (error) {
        onNote?.(
          `! ${node.name} is not a node of the cluster yet (${getErrorMessage(error)}): restart kubelet on it.`,
        );
      }
    }),
  );
}

/**
 * Restores a cluster. Prepares the data while etcd still runs. Then stops etcd and the API servers,
 * replaces etcd's data, and starts etcd and the API servers again.
 */
export async function restoreCluster(
  target: RestoreTarget,
  listener: RestoreListener,
): Promise<void> {
  const { plan, machines } = target;
  const { members, apiServers } = plan;
  const { onDetail, onNote } = listener;
  // Cluster token of the restored etcd. A former member that starts again has another token, and so
  // refuses the restored members.
  const token = randomUUID();
  await prepareData(target, listener, token).catch((error: unknown) => {
    throw plan.unpack.length > 0 ? afterUnpacking(error, plan) : error;
  });
  const ask = (one: MachineOutput, ...words: readonly string[]): Promise<string> =>
    withRetries(() => machines.readOutput(one, createRestoreProgram(...words)), listener);
  const step = (
    text: string,
    which: readonly MachineOutput[],
    ...words: readonly string[]
  ): Promise<readonly string[]> => {
    onDetail?.(text);
    return onAll(which, (one) => ask(one, ...words));
  };
  const everywhere = [...new Set([...members, ...apiServers])];
  let startOutputs: readonly string[];
  /**
   * Machines whose API server runs again. Clients may already change data through these servers.
   */
  const answering = new Set<MachineOutput>();
  try {
    await step("stopping etcd and the API servers", everywhere, "stop");
    if (members.length > 0) {
      await step("replacing etcd's data", members, "swap", token);
      await step("starting etcd", members, "start-etcd");
    }
    onDetail?.("starting the API servers");
    startOutputs = await onAll(apiServers, async (one) => {
      const text = await ask(one, "start-api");
      answering.add(one);
      return text;
    });
  } catch (error) {
    // If an API server already runs, clients may use the restored data. The restore of etcd is then
    // complete, so the machines that only run etcd record its end. `start-api` has recorded the end
    // on the machines with an API server.
    const others = answering.size > 0 ? members.filter((one) => !apiServers.includes(one)) : [];
    await step("finishing", others, "settle").catch(() => undefined);
    throw stoppedCluster(error);
  }
  for (const text of startOutputs.flatMap(noted)) onNote?.(`! ${text}`);
  // The cluster runs again, so failures from here on are only reported.
  await step("finishing", everywhere, "settle").catch((error: unknown) => {
    onNote?.(`! ${unsettled} (${getErrorMessage(error)})`);
  });
  await renewWorkers(target, listener).catch((error: unknown) => {
    onNote?.(`! Cannot check whether all workers are nodes: ${getErrorMessage(error)}`);
  });
}
