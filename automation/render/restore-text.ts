import type { RestorePlan } from "../backup/restore-plan.js";

const names = (machines: readonly { readonly name: string }[]): string =>
  machines.map(({ name }) => name).join(", ");

/** Returns the time since `takenAt` in one unit, for example `5 minutes`. */
function ago(takenAt: string, now: number): string {
  const minutes = Math.round((now - Date.parse(takenAt)) / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 48 * 60
    ? `${Math.round(minutes / 60)} hours`
    : `${Math.round(minutes / 1440)} days`;
}

/**
 * Returns the text that describes a restore before the confirmation.
 *
 * @param now milliseconds since 1970
 */
export function renderRestorePlan(
  { backup, unpack, members, apiServers, without }: RestorePlan,
  now: number,
): string {
  const others = apiServers.filter((one) => !members.includes(one));
  const goesBack = members.length > 0;
  return [
    goesBack
      ? `etcd of cluster '${backup.cluster}' is restored to ${backup.takenAt}, ${ago(backup.takenAt, now)} ago: everything created in Kubernetes since then is lost.`
      : `etcd of cluster '${backup.cluster}' keeps its present data: only API servers are restored.`,
    ...(backup.snapshot.majority || !goesBack
      ? []
      : [
          `The data come from ${backup.snapshot.machine} at a time when etcd had no majority: they may lack what other members had.`,
        ]),
    ...unpack.map(
      ({ machine }) => `${machine.name} takes over the role and the keys of its former server.`,
    ),
    ...(goesBack ? [`etcd's members will be: ${names(members)}.`] : []),
    ...(others.length > 0 ? [`API servers that restart: ${names(others)}.`] : []),
    ...(without.length > 0
      ? [`Not in the cluster afterwards: ${names(without)}. \`up --refresh\` lets them join again.`]
      : []),
    "The Kubernetes API does not answer for about a minute; pods keep running.",
  ].join("\n");
}
