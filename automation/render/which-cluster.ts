import type { CloudPlace, WhichCluster } from "../cluster/options.js";

/** Names the clusters: `cluster 'shop'`, `clusters 'shop', 'test'`. */
export const clusterWords = ({ clusters }: Pick<WhichCluster, "clusters">): string =>
  `cluster${clusters.length > 1 ? "s" : ""} ${clusters.map((name) => `'${name}'`).join(", ")}`;

export const identityWords = ({
  identities,
  held,
}: Pick<WhichCluster, "identities" | "held">): string => {
  if (identities.length > 0) return `identity ${identities.join(", ")}`;
  return held ? "no identity" : "not made yet";
};

/** Names cloud, region and project, as far as they are known. */
export const placeWords = ({ cloud, region, project: { name, id } }: CloudPlace): string =>
  [
    `cloud '${cloud}'`,
    ...(region === "" ? [] : [`region '${region}'`]),
    `project '${name === "" ? id : name}'`,
  ].join(", ");

/** Describes the clusters that a command is about, in one line. */
export function clusterLine(which: WhichCluster): string {
  const where = which.place ? ` in ${placeWords(which.place)}` : "";
  const line = `${clusterWords(which)} (${identityWords(which)})${where}`;
  return line.replace(/^c/, "C");
}
