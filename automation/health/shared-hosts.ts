import { listObjects, type CloudObject } from "../../openstack/inventory/inventory.js";
import { needsMajority } from "../../components/config/roles.js";
import type { ClusterOutputs } from "../verify/cluster-outputs.js";
import type { StackOperation } from "../engine/operation-context.js";

/**
 * Groups of machines that should not fail together, with the path of each group in the settings.
 * `voting` is whether the group's machines run etcd, which needs a majority of its members.
 */
const groups = ({ nodes, etcd }: ClusterOutputs) =>
  [
    {
      path: "controlPlane",
      machines: nodes.filter(({ role }) => needsMajority(role)),
      voting: (etcd ?? []).length === 0,
    },
    { path: "etcd", machines: etcd ?? [], voting: true },
  ] as const;

/**
 * Returns warnings about control planes, or etcd machines, that run on the same host and therefore
 * fail together. Nova may place two machines on one host if the setting is `spread: soft`, or in a
 * migration.
 */
export function findSharedHostWarnings(
  outputs: ClusterOutputs,
  servers: readonly Pick<CloudObject, "id" | "host">[],
): string[] {
  const hostOf = new Map(servers.map(({ id, host }) => [id, host]));
  return groups(outputs).flatMap(({ path, machines, voting }) => {
    const hosts = new Set(machines.map(({ serverId }) => hostOf.get(serverId) ?? ""));
    return [...hosts].flatMap((host) => {
      const names = machines.flatMap(({ name, serverId }) =>
        hostOf.get(serverId) === host ? [name] : [],
      );
      const last = names.pop();
      if (host === "" || last === undefined || names.length === 0) return [];
      const left = machines.length - names.length - 1;
      const lost = voting && 2 * left <= machines.length;
      const loss = lost ? "etcd loses its majority if it fails" : "they fail together with it";
      const generation = `${path}.nodes.${last.split("-").at(-1) ?? ""}.generation`;
      return [
        `${names.join(", ")} and ${last} are on one host, and ${loss}; to move ${last}, raise \`${generation}\`: it is recreated on another host if its zone has one, or in another zone if you write one`,
      ];
    });
  });
}

/**
 * Reports the warnings of {@link findSharedHostWarnings} after an `up`. Reports nothing if the
 * cloud does not answer, because the `up` must not fail for this reason.
 */
export async function reportSharedHosts(
  run: StackOperation,
  outputs: ClusterOutputs,
): Promise<void> {
  if (groups(outputs).every(({ machines }) => machines.length < 2)) return;
  const servers = await run
    .cloud()
    .then((cloud) => listObjects(cloud, "server"))
    .catch(() => []);
  for (const text of findSharedHostWarnings(outputs, servers)) run.warn(text);
}
