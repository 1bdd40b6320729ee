import { Failure } from "../../base/failure.js";
import { z } from "zod";
import type { ClusterOutputs, MachineOutput } from "../verify/outputs.js";
import type { Backup, BackupDescription } from "./backup-files.js";
import { controlPlanesOf, etcdOf, hasOwnEtcd, peerUrlOf } from "./groups.js";

/** What a machine says of itself (scripts/restore.sh, `look`). */
export const lookedSchema = z.object({
  /** Whether it is ready for Kubernetes, its volumes are in place and the programs are there that bring something back. */
  prepared: z.boolean(),
  /** True where it has the keys of its place in the cluster: a machine that was created again has none. */
  place: z.boolean(),
  /** Whether kubelet runs etcd or an API server there. */
  live: z.boolean(),
  /** Whether it has a member of etcd, running or not. */
  etcd: z.boolean(),
  /** The same of an API server. */
  apiServer: z.boolean(),
  /** Whether its etcd goes on with a majority. */
  majority: z.boolean(),
  /** Digest of the archive from which it has its place, until the cluster is back; else empty. */
  unpacked: z.string(),
  /** URLs of the members that its etcd knows; none where that does not run, null where it runs and does not say. */
  peers: z.array(z.string()).nullable(),
});

/** Why a machine says nothing. */
export interface Silent {
  readonly silent: string;
  /** The machine through which it is reached, if that one's server is gone. */
  readonly behind?: string | undefined;
}

/** How a machine was found: what it says, that its server is gone, or why it says nothing. */
export type Seen = z.infer<typeof lookedSchema> | "gone" | Silent;

/** A machine that gets the place of its former server, and the archive for that. */
interface Unpack {
  readonly machine: MachineOutput;
  readonly file: string;
  readonly sha256: string;
}

/** What brings a cluster back. */
export interface RestorePlan {
  readonly backup: Backup;
  /** Machines created again that become what their former servers were, and the archives for that. */
  readonly unpack: readonly Unpack[];
  /** Those that have etcd's data from then on. None where etcd goes on: then only API servers are brought back. */
  readonly members: readonly MachineOutput[];
  readonly apiServers: readonly MachineOutput[];
  /** Those that have no place in the cluster any more: `up --refresh` lets them in anew. */
  readonly without: readonly MachineOutput[];
}

export interface Found {
  readonly backup: Backup;
  readonly outputs: ClusterOutputs;
  /** Every member of etcd and every control plane, by its name. */
  readonly seen: ReadonlyMap<string, Seen>;
}

type Said = z.infer<typeof lookedSchema>;
const said = (seen: Seen | undefined): Said | undefined =>
  typeof seen === "object" && "place" in seen ? seen : undefined;

const adviceFor = ({ behind }: Silent): string =>
  behind === undefined
    ? "Bring it up, and see that it lets you in; only where it is lost for good delete its server, and `npx stackadm up --refresh` creates it again afterwards."
    : `It is reached through ${behind}, which \`npx stackadm up --refresh\` makes anew before it ends with an error.`;

/** Machines that may come back as they were would go on with what they know. */
function silentProblems({ outputs, seen }: Found): string[] {
  const all = new Set([...etcdOf(outputs), ...controlPlanesOf(outputs)]);
  return [...all].flatMap(({ name }) => {
    const one = seen.get(name);
    return typeof one === "object" && "silent" in one
      ? `${name}: ${one.silent} ${adviceFor(one)}`
      : [];
  });
}

const stopping = (name: string): string =>
  `move /etc/kubernetes/manifests/etcd.yaml on ${name} to /var/lib/stackadm/restore/, which stops its etcd`;

/** Those that are in etcd, or about to be, and that nobody would stop. */
function strangeProblems({ outputs, seen }: Found): string[] {
  const known = new Set(etcdOf(outputs).map(peerUrlOf));
  return [...seen].flatMap(([name, one]) => {
    const machine = said(one);
    if (!machine) return [];
    const strange = (machine.peers ?? []).filter((peer) => !known.has(peer));
    return [
      ...(machine.peers === null
        ? [
            `etcd on ${name} runs, but does not say which members it knows: run this again in a minute; if it says nothing then either, ${stopping(name)}.`,
          ]
        : []),
      ...(machine.live && !machine.place
        ? [
            `${name} is half-way into the cluster: bring \`npx stackadm up\` to its end, or delete its server.`,
          ]
        : []),
      ...(strange.length > 0
        ? [
            `etcd on ${name} knows a member at ${strange.join(", ")}, and the stack's outputs do not: bring \`npx stackadm up\` to its end; or delete the server that has that address, and ${stopping(name)}: without a majority it goes on to name it.`,
          ]
        : []),
    ];
  });
}

interface Group {
  readonly what: string;
  readonly machines: readonly MachineOutput[];
  /** Whether a machine with its place has what the group is for. */
  readonly whole: (machine: Said) => boolean;
}

const groupsOf = (outputs: ClusterOutputs): { etcd: Group; apiServers: Group } => ({
  etcd: {
    what: "a member of etcd",
    machines: etcdOf(outputs),
    whole: ({ etcd }) => etcd,
  },
  apiServers: {
    what: "a control plane",
    machines: controlPlanesOf(outputs),
    whole: ({ apiServer }) => apiServer,
  },
});

interface Choice {
  readonly machines: readonly MachineOutput[];
  readonly unpack: RestorePlan["unpack"];
  readonly problems: readonly string[];
}

/** Those of a group that go on; where none has its place, one that gets it from the archive. */
function choose({ what, machines, whole }: Group, { seen, backup }: Found): Choice {
  const of = (one: MachineOutput): Said | undefined => said(seen.get(one.name));
  const nobody = (problem: string): Choice => ({ machines: [], unpack: [], problems: [problem] });
  const archive = backup.archives.find(({ machine }) =>
    machines.some(({ name }) => name === machine),
  );
  /** It has what another backup brought to it, which did not come to its end. */
  const isOther = (one: MachineOutput): boolean =>
    !["", archive?.sha256, undefined].includes(of(one)?.unpacked);
  const placed = machines.filter((one) => of(one)?.place && !isOther(one));
  const broken = placed.filter((one) => {
    const says = of(one);
    return says !== undefined && !whole(says);
  });
  const machine = machines.find(({ name }) => name === archive?.machine);
  const other = machines.find((one) => isOther(one) && (placed.length > 0 || one !== machine));
  if (other)
    return nobody(
      `${other.name} has the files of another backup, which was not brought back to its end: name that one, or delete the server.`,
    );
  if (placed.length > 0)
    return {
      ...{ machines: placed, unpack: [] },
      problems: broken.map(
        ({ name }) =>
          `${name} was ${what}, but the manifest of that is not in /etc/kubernetes/manifests: put it back.`,
      ),
    };
  const names = machines.map(({ name }) => name).join(", ");
  if (!archive || !machine)
    return nobody(`No machine is ${what} any more, and the backup has no archive of ${names}.`);
  if (of(machine)?.prepared !== true)
    return nobody(
      `No machine is ${what} any more: run \`npx stackadm up --refresh\`, which makes ${machine.name} anew and ends with an error. Then run this again.`,
    );
  const { file, sha256 } = archive;
  return { machines: [machine], unpack: [{ machine, file, sha256 }], problems: [] };
}

/** Whether a majority of etcd's own machines goes on, and API servers alone are brought back: nobody wants older data then. */
function goesOn({ seen }: Found, members: Choice, serving: Choice): boolean {
  const of = ({ name }: MachineOutput): Said | undefined => said(seen.get(name));
  const anew = new Set(serving.unpack.map(({ machine }) => machine));
  return (
    members !== serving &&
    members.unpack.length === 0 &&
    members.machines.some((one) => of(one)?.majority) &&
    // Those, too, to which a run that did not come to its end gave their place.
    serving.machines.every((one) => anew.has(one) || of(one)?.unpacked !== "")
  );
}

/** Decides from what was found. Throws one failure with all that is in the way. Pure. */
export function planRestore(found: Found): RestorePlan {
  const { backup, outputs } = found;
  const { etcd, apiServers } = groupsOf(outputs);
  const members = choose(etcd, found);
  const serving = hasOwnEtcd(outputs) ? choose(apiServers, found) : members;
  const before = [...silentProblems(found), ...strangeProblems(found)];
  const problems = before.length > 0 ? before : [...members.problems, ...serving.problems];
  if (problems.length > 0)
    throw new Failure(
      "NOT_READY",
      `The backup cannot be brought back as the machines are:\n${[...new Set(problems)].map((one) => `  ${one}`).join("\n")}`,
      "Nothing was changed. When that is done, run the same command again.",
    );
  const kept = new Set([...members.machines, ...serving.machines]);
  const all = new Set([...etcd.machines, ...apiServers.machines]);
  return {
    backup,
    unpack: [...new Set([...members.unpack, ...serving.unpack])],
    members: goesOn(found, members, serving) ? [] : members.machines,
    apiServers: serving.machines,
    without: [...all].filter((one) => !kept.has(one)),
  };
}

const minor = (version: string): number => Number(version.split(".")[1]);

/** What the stack holds now. */
export interface Held {
  readonly cluster: string;
  readonly identities: ReadonlySet<string>;
  readonly kubernetesVersion: string | undefined;
}

/** Refuses a backup of another cluster, or of a later release than the machines run. Pure. */
export function requireSameCluster(backup: BackupDescription, held: Held): void {
  const { cluster, identities, takenAt, kubernetesVersion: then } = backup;
  const same =
    cluster === held.cluster &&
    (identities.length > 0
      ? identities.every((one) => held.identities.has(one))
      : held.identities.size === 0);
  if (!same)
    throw new Failure(
      "INVALID_USAGE",
      `--from: the backup of ${takenAt} is of cluster '${cluster}' (${identities.join(", ") || "no identity"}), and the stack holds '${held.cluster}' (${[...held.identities].join(", ") || "no identity"}).`,
      "Nothing was changed. Name a backup of this cluster, or its stack by --stack.",
    );
  const now = held.kubernetesVersion;
  if (then !== undefined && now !== undefined && minor(then) > minor(now))
    throw new Failure(
      "INVALID_USAGE",
      `--from: the backup is of Kubernetes ${then}, and the machines run ${now}, which does not read all of it.`,
      "Nothing was changed. Name an earlier backup.",
    );
}

/** What of a plan decides what is done, to be compared. */
export const gistOf = ({ backup, unpack, members, apiServers, without }: RestorePlan): string =>
  JSON.stringify([
    backup.snapshot.sha256,
    unpack.map(({ machine, sha256 }) => `${machine.name} ${sha256}`),
    ...[members, apiServers, without].map((all) => all.map(({ name }) => name)),
  ]);
