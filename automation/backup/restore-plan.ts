import { Failure } from "../../base/failures/failure.js";
import { z } from "zod";
import type { ClusterOutputs, MachineOutput } from "../verify/cluster-outputs.js";
import type { Backup, BackupDescription } from "./backup-files.js";
import {
  getControlPlanes,
  getEtcdMemberMachines,
  hasEtcdMachines,
  getEtcdPeerUrl,
} from "./machines-by-role.js";

/** State of a machine, as `look` in scripts/restore.sh prints it. */
export const machineStateSchema = z.object({
  /**
   * Whether the machine is prepared for Kubernetes: its volumes are mounted, and the programs for a
   * restore are installed.
   */
  prepared: z.boolean(),
  /**
   * Whether the machine has joined the cluster and still has its keys. False for a machine that was
   * created again.
   */
  place: z.boolean(),
  /** Whether the manifest of etcd or of an API server is in kubelet's directory of manifests. */
  live: z.boolean(),
  /** Whether the machine has an etcd member, running or not. */
  etcd: z.boolean(),
  /** Whether the machine has an API server, running or not. */
  apiServer: z.boolean(),
  /** Whether the machine's etcd member reaches a majority of members. */
  majority: z.boolean(),
  /**
   * Digest of an archive, if an unfinished restore unpacked this archive on the machine. Otherwise
   * empty.
   */
  unpacked: z.string(),
  /**
   * Peer URLs of all members that the machine's etcd lists. Empty if etcd does not run. Null if
   * etcd runs but does not answer.
   */
  peers: z.array(z.string()).nullable(),
});

/** Reply for a machine that did not answer, with the reason. */
export interface NoReply {
  readonly silent: string;
  /** Name of the machine's SSH proxy, if the proxy's server does not exist. */
  readonly behind?: string | undefined;
}

/**
 * Reply of a machine: its state, "gone" if its server does not exist, or the reason why the machine
 * did not answer.
 */
export type MachineReply = z.infer<typeof machineStateSchema> | "gone" | NoReply;

/** Machine that was created again, and the archive with the files of its former server. */
interface Unpack {
  readonly machine: MachineOutput;
  readonly file: string;
  readonly sha256: string;
}

export interface RestorePlan {
  readonly backup: Backup;
  /** Machines that were created again, with the archives that are unpacked on them. */
  readonly unpack: readonly Unpack[];
  /**
   * Etcd members that get the backup's data. Empty if etcd keeps its data, and the restore only
   * restores API servers.
   */
  readonly members: readonly MachineOutput[];
  readonly apiServers: readonly MachineOutput[];
  /** Machines that the restored cluster does not contain. `up --refresh` joins them again. */
  readonly without: readonly MachineOutput[];
}

export interface RestorePlanInput {
  readonly backup: Backup;
  readonly outputs: ClusterOutputs;
  /** Reply of each etcd member and each control plane, by the name of the machine. */
  readonly seen: ReadonlyMap<string, MachineReply>;
}

type MachineAnswer = z.infer<typeof machineStateSchema>;
const answerOf = (seen: MachineReply | undefined): MachineAnswer | undefined =>
  typeof seen === "object" && "place" in seen ? seen : undefined;

const adviceFor = ({ behind }: NoReply): string =>
  behind === undefined
    ? "Start it, and check that you can log in. Only if it is lost, delete its server and run `stackadm up --refresh` afterwards, which recreates it."
    : `Its SSH route leads through ${behind}: run \`stackadm up --refresh\`, which recreates that machine and then ends with an error.`;

/**
 * Returns a problem for each machine that did not answer, because the machine might start again
 * later and continue with old data.
 */
function silentProblems({ outputs, seen }: RestorePlanInput): string[] {
  const all = new Set([...getEtcdMemberMachines(outputs), ...getControlPlanes(outputs)]);
  return [...all].flatMap(({ name }) => {
    const one = seen.get(name);
    return typeof one === "object" && "silent" in one
      ? `${name}: ${one.silent} ${adviceFor(one)}`
      : [];
  });
}

const stopping = (name: string): string =>
  `move /etc/kubernetes/manifests/etcd.yaml on ${name} to /var/lib/stackadm/restore/, which stops its etcd`;

/**
 * Returns a problem for each machine on which etcd or an API server might run during the restore.
 */
function strangeProblems({ outputs, seen }: RestorePlanInput): string[] {
  const known = new Set(getEtcdMemberMachines(outputs).map(getEtcdPeerUrl));
  return [...seen].flatMap(([name, one]) => {
    const machine = answerOf(one);
    if (!machine) return [];
    const strange = (machine.peers ?? []).filter((peer) => !known.has(peer));
    return [
      ...(machine.peers === null
        ? [
            `etcd on ${name} runs, but does not list its members: run the same command again in a minute; if it fails again, ${stopping(name)}.`,
          ]
        : []),
      ...(machine.live && !machine.place
        ? [
            `${name} has not finished joining the cluster: let \`stackadm up\` finish, or delete its server.`,
          ]
        : []),
      ...(strange.length > 0
        ? [
            `etcd on ${name} has a member at ${strange.join(", ")} that is not in the stack's outputs: let \`stackadm up\` finish; or delete the server with this address, and ${stopping(name)}, because without a majority etcd keeps listing this member.`,
          ]
        : []),
    ];
  });
}

interface Group {
  readonly what: string;
  readonly machines: readonly MachineOutput[];
  /**
   * Returns whether a machine that has its keys also has the manifest of the group's static pod.
   */
  readonly whole: (machine: MachineAnswer) => boolean;
}

const groupsOf = (outputs: ClusterOutputs): { etcd: Group; apiServers: Group } => ({
  etcd: {
    what: "a member of etcd",
    machines: getEtcdMemberMachines(outputs),
    whole: ({ etcd }) => etcd,
  },
  apiServers: {
    what: "a control plane",
    machines: getControlPlanes(outputs),
    whole: ({ apiServer }) => apiServer,
  },
});

interface Choice {
  readonly machines: readonly MachineOutput[];
  readonly unpack: RestorePlan["unpack"];
  readonly problems: readonly string[];
}

/**
 * Selects the machines of a group for the restored cluster: all machines that have their keys. If
 * no machine has its keys, selects the machine whose files are in the archive.
 */
function choose({ what, machines, whole }: Group, { seen, backup }: RestorePlanInput): Choice {
  const findAnswer = (one: MachineOutput): MachineAnswer | undefined =>
    answerOf(seen.get(one.name));
  const refused = (problem: string): Choice => ({ machines: [], unpack: [], problems: [problem] });
  const archive = backup.archives.find(({ machine }) =>
    machines.some(({ name }) => name === machine),
  );
  /** Returns whether an unfinished restore has unpacked files of another backup on the machine. */
  const isOther = (one: MachineOutput): boolean =>
    !["", archive?.sha256, undefined].includes(findAnswer(one)?.unpacked);
  const placed = machines.filter((one) => findAnswer(one)?.place && !isOther(one));
  const broken = placed.filter((one) => {
    const says = findAnswer(one);
    return says !== undefined && !whole(says);
  });
  const machine = machines.find(({ name }) => name === archive?.machine);
  const other = machines.find((one) => isOther(one) && (placed.length > 0 || one !== machine));
  if (other)
    return refused(
      `${other.name} has the files of another backup, whose restore did not finish: name that backup, or delete the server.`,
    );
  if (placed.length > 0)
    return {
      machines: placed,
      unpack: [],
      problems: broken.map(
        ({ name }) =>
          `${name} was ${what}, but its manifest is not in /etc/kubernetes/manifests: put it back.`,
      ),
    };
  const names = machines.map(({ name }) => name).join(", ");
  if (!archive || !machine)
    return refused(`No machine is ${what} any more, and the backup has no archive of ${names}.`);
  if (findAnswer(machine)?.prepared !== true)
    return refused(
      `No machine is ${what} any more: run \`stackadm up --refresh\`, which recreates ${machine.name} and ends with an error. Then run the same command again.`,
    );
  const { file, sha256 } = archive;
  return { machines: [machine], unpack: [{ machine, file, sha256 }], problems: [] };
}

/**
 * Returns whether etcd keeps its data, and the restore only restores API servers. True if all API
 * servers need files from the archive, and separate etcd machines have a majority. The data of
 * these machines are newer than the backup.
 */
function keepsEtcdData({ seen }: RestorePlanInput, members: Choice, serving: Choice): boolean {
  const findAnswer = ({ name }: MachineOutput): MachineAnswer | undefined =>
    answerOf(seen.get(name));
  const restored = new Set(serving.unpack.map(({ machine }) => machine));
  return (
    members !== serving &&
    members.unpack.length === 0 &&
    members.machines.some((one) => findAnswer(one)?.majority) &&
    // Every machine with an API server gets files in this restore, or got files in an interrupted
    // restore.
    serving.machines.every((one) => restored.has(one) || findAnswer(one)?.unpacked !== "")
  );
}

/** Returns the plan of a restore. Throws one failure with all obstacles. Pure. */
export function planRestore(found: RestorePlanInput): RestorePlan {
  const { backup, outputs } = found;
  const { etcd, apiServers } = groupsOf(outputs);
  const members = choose(etcd, found);
  const serving = hasEtcdMachines(outputs) ? choose(apiServers, found) : members;
  const before = [...silentProblems(found), ...strangeProblems(found)];
  const problems = before.length > 0 ? before : [...members.problems, ...serving.problems];
  if (problems.length > 0)
    throw new Failure(
      "NOT_READY",
      `The backup cannot be restored to these machines:\n${[...new Set(problems)].map((one) => `  ${one}`).join("\n")}`,
      "Nothing was changed. Do what is named, then run the same command again.",
    );
  const kept = new Set([...members.machines, ...serving.machines]);
  const all = new Set([...etcd.machines, ...apiServers.machines]);
  return {
    backup,
    unpack: [...new Set([...members.unpack, ...serving.unpack])],
    members: keepsEtcdData(found, members, serving) ? [] : members.machines,
    apiServers: serving.machines,
    without: [...all].filter((one) => !kept.has(one)),
  };
}

const minor = (version: string): number => Number(version.split(".")[1]);

export interface PresentCluster {
  readonly cluster: string;
  readonly identities: ReadonlySet<string>;
  readonly kubernetesVersion: string | undefined;
}

/**
 * Throws if the backup is of another cluster, or of a newer Kubernetes minor version than the
 * machines run. Pure.
 */
export function requireBackupOfCluster(backup: BackupDescription, present: PresentCluster): void {
  const { cluster, identities, takenAt, kubernetesVersion: then } = backup;
  const same =
    cluster === present.cluster &&
    (identities.length > 0
      ? identities.every((one) => present.identities.has(one))
      : present.identities.size === 0);
  if (!same)
    throw new Failure(
      "INVALID_USAGE",
      `--from: the backup of ${takenAt} is of cluster '${cluster}' (${identities.join(", ") || "no identity"}), but the stack has cluster '${present.cluster}' (${[...present.identities].join(", ") || "no identity"}).`,
      "Nothing was changed. Name a backup of this cluster, or the other cluster's stack with --stack.",
    );
  const now = present.kubernetesVersion;
  if (then !== undefined && now !== undefined && minor(then) > minor(now))
    throw new Failure(
      "INVALID_USAGE",
      `--from: the backup is of Kubernetes ${then}, but the machines run ${now}, which cannot read all of it.`,
      "Nothing was changed. Name an earlier backup.",
    );
}

/**
 * Returns, as text, the parts of a plan that determine what the restore does. Two plans with equal
 * texts have equal effects.
 */
export const serializeRestoreActions = ({
  backup,
  unpack,
  members,
  apiServers,
  without,
}: RestorePlan): string =>
  JSON.stringify([
    backup.snapshot.sha256,
    unpack.map(({ machine, sha256 }) => `${machine.name} ${sha256}`),
    ...[members, apiServers, without].map((all) => all.map(({ name }) => name)),
  ]);
