import type { CloudPlace, WhichCluster } from "../cluster/options.js";

/** The clusters by name: `cluster 'shop'`, `clusters 'shop', 'test'`. */
export const clusterWords = ({ clusters }: Pick<WhichCluster, "clusters">): string =>
  `cluster${clusters.length > 1 ? "s" : ""} ${clusters.map((name) => `'${name}'`).join(", ")}`;

export const identityWords = ({
  identities,
  held,
}: Pick<WhichCluster, "identities" | "held">): string => {
  if (identities.length > 0) return `identity ${identities.join(", ")}`;
  return held ? "no identity" : "not made yet";
};

/** Cloud, region and project, as far as they are known. */
export const placeWords = ({ cloud, region, project: { name, id } }: CloudPlace): string =>
  [
    `cloud '${cloud}'`,
    ...(region === "" ? [] : [`region '${region}'`]),
    `project '${name === "" ? id : name}'`,
  ].join(", ");

/** Whose cluster a command is about, for people. */
export function clusterLine(which: WhichCluster): string {
  const where = which.place ? ` in ${placeWords(which.place)}` : "";
  const line = `${clusterWords(which)} (${identityWords(which)})${where}`;
  return line.replace(/^c/, "C");
}
