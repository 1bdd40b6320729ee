import type { RestorePlan } from "../backup/restore-plan.js";

const names = (machines: readonly { readonly name: string }[]): string =>
  machines.map(({ name }) => name).join(", ");

/** Returns the time since then, in one unit. */
function ago(takenAt: string, now: number): string {
  const minutes = Math.round((now - Date.parse(takenAt)) / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 48 * 60
    ? `${Math.round(minutes / 60)} hours`
    : `${Math.round(minutes / 1440)} days`;
}

/** Describes a restore before the confirmation. `now` is in milliseconds since 1970. */
export function restoreText(
  { backup, unpack, members, apiServers, without }: RestorePlan,
  now: number,
): string {
  const others = apiServers.filter((one) => !members.includes(one));
  const goesBack = members.length > 0;
  return [
    goesBack
      ? `etcd of cluster '${backup.cluster}' goes back to ${backup.takenAt}, ${ago(backup.takenAt, now)} ago: what came into Kubernetes since is lost.`
      : `etcd of cluster '${backup.cluster}' goes on with the data that it has: only API servers are brought back.`,
    ...(backup.snapshot.majority || !goesBack
      ? []
      : [
          `The data are of ${backup.snapshot.machine} when etcd had no majority: what other members had besides is not in them.`,
        ]),
    ...unpack.map(({ machine }) => `${machine.name} becomes what its former server was.`),
    ...(goesBack ? [`etcd's members will be: ${names(members)}.`] : []),
    ...(others.length > 0 ? [`API servers that start again: ${names(others)}.`] : []),
    ...(without.length > 0
      ? [`Without a place in the cluster: ${names(without)}. \`up --refresh\` lets them in anew.`]
      : []),
    "The Kubernetes API does not answer for about a minute; pods go on.",
  ].join("\n");
}
