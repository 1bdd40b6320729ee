import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as after } from "node:timers/promises";
import type { CloudObject } from "../../cloud/inventory.js";
import { Failure } from "../../base/failure.js";
import { machinesOf, type ClusterOutputs, type MachineOutput } from "../verify/outputs.js";
import { controlPlanesOf, etcdOf, peerUrlOf } from "./groups.js";
import { restoring, sentenceOf, type ClusterMachines } from "./machines.js";
import { lookedSchema, type RestorePlan, type Seen } from "./restore-plan.js";

type Machines = Pick<ClusterMachines, "ask">;
type Servers = readonly Pick<CloudObject, "id" | "name" | "status">[];

/** The outputs name the former server of a machine that a failed run created again. */
const serverOf = (
  servers: Servers,
  machine: Pick<MachineOutput, "name" | "serverId">,
): Servers[number] | undefined =>
  servers.find(({ id }) => id === machine.serverId) ??
  servers.find(({ name }) => name === machine.name);

/** Asks every machine that has etcd or an API server what it is; of one that does not answer, the servers say it. */
export async function lookAtMachines(
  outputs: ClusterOutputs,
  machines: Machines,
  servers: Servers,
): Promise<Map<string, Seen>> {
  const look = async (machine: MachineOutput): Promise<Seen> => {
    const server = serverOf(servers, machine);
    if (!server) return "gone";
    try {
      return lookedSchema.parse(JSON.parse(await machines.ask(machine, restoring("look"))));
    } catch (error) {
      const why = error instanceof Failure ? error.sentence : String(error);
      const way = machinesOf(outputs).find(({ name }) => name === machine.sshThrough);
      const behind = way && !serverOf(servers, way) ? way.name : undefined;
      return { silent: `its server is ${server.status}, and ${why}`, behind };
    }
  };
  const all = [...new Set([...etcdOf(outputs), ...controlPlanesOf(outputs)])];
  return new Map(await Promise.all(all.map(async (one) => [one.name, await look(one)] as const)));
}

/** Every machine at once; what failed on any of them is one failure. */
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
      failed.map(sentenceOf).join("\n"),
      "Correct that and run the same command again.",
    );
  return ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/** What goes on meanwhile. */
export interface RestoreListener {
  readonly onDetail?: ((text: string) => void) | undefined;
  /** What could not be done, and what to do. */
  readonly onNote?: ((text: string) => void) | undefined;
  /** Asked until the cluster is stopped: from then on it is brought to its end. */
  readonly requireGoingOn: () => void;
  /** Ends everything at once. */
  readonly killSignal?: AbortSignal | undefined;
  /** Waits so many milliseconds; tests put their own in. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** A machine is asked so often at most once the cluster is stopped, and so many milliseconds apart. */
const persistence = { tries: 3, pause: 5_000 };

/** Not what a script says of itself: the connection ended, or did not come about. */
const isLost = (error: unknown): boolean =>
  !(error instanceof Failure) || ["SSH_UNREACHABLE", "FAILED"].includes(error.code);

/** A step that can be done twice goes on over a connection that was lost; what went on there is waited for. */
async function persistently(
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

/** What is brought back, and where. */
export interface RestoreTarget {
  readonly plan: RestorePlan;
  readonly outputs: ClusterOutputs;
  readonly machines: Machines;
  readonly servers: Servers;
}

/** A code of its own: however it came about, a stop is not what happened then. */
const stoppedCluster = (error: unknown): Failure =>
  new Failure(
    "COMMAND_FAILED",
    sentenceOf(error),
    "etcd and the API are stopped, in part or all, until this is done: mend that and run the same command again.",
  );

const unsettled =
  "Another restore would take this one for half done: delete /var/lib/etcd/member/stackadm-restored and /var/lib/stackadm/restore-digest on the machine.";

/** It is told otherwise that nothing was changed. */
function afterUnpacking(error: unknown, { unpack }: RestorePlan): Failure {
  const { code, hint } = error instanceof Failure ? error : new Failure("COMMAND_FAILED", "");
  const why = code === "CANCELLED" ? "Stopped on request." : sentenceOf(error);
  const names = unpack.map(({ machine }) => machine.name).join(", ");
  return new Failure(
    code,
    `${why}\n${names}: in part or whole what the former server was, and etcd's data are not there yet. Nothing else was changed.`,
    hint,
  );
}

const noted = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.startsWith("note: ") ? [line.slice(6)] : []));

/** A file of the backup; one that cannot be read fails where it is read. */
const read = (plan: RestorePlan, file: string): { readonly input: Readable } => ({
  input: Readable.from(parts(join(plan.backup.directory, file))),
});

async function* parts(path: string): AsyncGenerator {
  yield* createReadStream(path);
}

/**
 * Where etcd's revisions go on, at a time in milliseconds since 1970: behind all that anybody has seen, also of what an earlier restore
 * brought back, since no etcd takes a write each microsecond. Of int64 and of what a number in JSON holds it is far below the end.
 */
const revisionAt = (now: number): number => now * 1000;

/** Everything that can be done while etcd goes on. */
async function getReady(
  { plan, machines }: RestoreTarget,
  { onDetail, requireGoingOn }: RestoreListener,
  token: string,
): Promise<void> {
  requireGoingOn();
  for (const { machine, file, sha256 } of plan.unpack) {
    onDetail?.(`${machine.name}: the files of its former server`);
    await machines.ask(machine, restoring("unpack", sha256), read(plan, file));
  }
  if (plan.members.length === 0) {
    requireGoingOn();
    return;
  }
  onDetail?.("the data of the snapshot, beside those of etcd");
  const members = plan.members.map((one) => `${one.name}=${peerUrlOf(one)}`).join(",");
  const { file, bytes } = plan.backup.snapshot;
  const revision = revisionAt(Date.now());
  try {
    await onAll(plan.members, (one) =>
      machines.ask(
        one,
        restoring("load", token, members, String(bytes), String(revision)),
        read(plan, file),
      ),
    );
    requireGoingOn();
  } catch (error) {
    // They are as large as etcd's own.
    await onAll(plan.members, (one) => machines.ask(one, restoring("tidy"))).catch(() => undefined);
    throw error;
  }
}

/** Lets every worker be the node that its machine is: one that came after the backup registers once more. */
async function renewWorkers(
  { plan, outputs, machines, servers }: RestoreTarget,
  { onDetail, onNote }: RestoreListener,
): Promise<void> {
  const [api] = plan.apiServers;
  if (!api) return;
  onDetail?.("workers that came after the backup become nodes again");
  const lines = (await machines.ask(api, restoring("nodes"))).split("\n");
  const known = new Map(lines.map((line) => [line.split(" ")[0] ?? "", line.split(" ")[1]]));
  const controlPlanes = controlPlanesOf(outputs);
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
        if (known.has(node.name)) await machines.ask(api, restoring("forget-node", node.name));
        await machines.ask(node, restoring("register"));
      } catch (error) {
        onNote?.(
          `! ${node.name} is no node of the cluster yet (${sentenceOf(error)}): restart kubelet there.`,
        );
      }
    }),
  );
}

/**
 * Brings a cluster back. As long as etcd can go on beside it, the data are made ready; then etcd and the API servers stop, the data take
 * their place, and they start again.
 */
export async function restore(target: RestoreTarget, listener: RestoreListener): Promise<void> {
  const { plan, machines } = target;
  const { members, apiServers } = plan;
  const { onDetail, onNote } = listener;
  // Members that know another one do not talk with these, should one come back.
  const token = randomUUID();
  await getReady(target, listener, token).catch((error: unknown) => {
    throw plan.unpack.length > 0 ? afterUnpacking(error, plan) : error;
  });
  const ask = (one: MachineOutput, ...words: readonly string[]): Promise<string> =>
    persistently(() => machines.ask(one, restoring(...words)), listener);
  const step = (
    text: string,
    which: readonly MachineOutput[],
    ...words: readonly string[]
  ): Promise<readonly string[]> => {
    onDetail?.(text);
    return onAll(which, (one) => ask(one, ...words));
  };
  const everywhere = [...new Set([...members, ...apiServers])];
  let said: readonly string[];
  /** By these somebody may work with the data. */
  const answering = new Set<MachineOutput>();
  try {
    await step("etcd and the API servers stop", everywhere, "stop");
    if (members.length > 0) {
      await step("the data take their place", members, "swap", token);
      await step("etcd starts", members, "start-etcd");
    }
    onDetail?.("the API servers start");
    said = await onAll(apiServers, async (one) => {
      const text = await ask(one, "start-api");
      answering.add(one);
      return text;
    });
  } catch (error) {
    // Each machine with an API server knows that itself.
    const others = answering.size > 0 ? members.filter((one) => !apiServers.includes(one)) : [];
    await step("the data are in use", others, "settle").catch(() => undefined);
    throw stoppedCluster(error);
  }
  for (const text of said.flatMap(noted)) onNote?.(`! ${text}`);
  // The cluster is back; what of this fails is only said.
  await step("the data are in use", everywhere, "settle").catch((error: unknown) => {
    onNote?.(`! ${unsettled} (${sentenceOf(error)})`);
  });
  await renewWorkers(target, listener).catch((error: unknown) => {
    onNote?.(`! Whether all workers are nodes is not known: ${sentenceOf(error)}`);
  });
}
