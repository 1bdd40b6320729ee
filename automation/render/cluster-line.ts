import type { CloudPlace, WhichCluster } from "../engine/operation-options.js";

/**
 * Returns the names of the clusters in words, for example `cluster 'shop'` or
 * `clusters 'shop', 'test'`.
 */
export const describeClusterNames = ({ clusters }: Pick<WhichCluster, "clusters">): string =>
  `cluster${clusters.length > 1 ? "s" : ""} ${clusters.map((name) => `'${name}'`).join(", ")}`;

export const describeIdentities = ({
  identities,
  held,
}: Pick<WhichCluster, "identities" | "held">): string => {
  if (identities.length > 0) return `identity ${identities.join(", ")}`;
  return held ? "no identity" : "not created yet";
};

/** Returns cloud, region and project in words. Leaves out the region if it is unknown. */
export const describeCloudPlace = ({ cloud, region, project: { name, id } }: CloudPlace): string =>
  [
    `cloud '${cloud}'`,
    ...(region === "" ? [] : [`region '${region}'`]),
    `project '${name === "" ? id : name}'`,
  ].join(", ");

/**
 * Returns one line about the clusters of a command: names, identities, cloud, region and project.
 */
export function renderClusterLine(which: WhichCluster): string {
  const where = which.place ? ` in ${describeCloudPlace(which.place)}` : "";
  const line = `${describeClusterNames(which)} (${describeIdentities(which)})${where}`;
  return line.replace(/^c/, "C");
}
