import { Cluster } from "./cluster.js";
import { isInside } from "./frozen-values.js";
import { ConfigError } from "./support/errors.js";
import { isAsBefore } from "./support/known-facts.js";
import { ownState } from "./support/own-state.js";

/**
 * For a program that has one cluster and takes its name from the configuration: under another name Pulumi would make another
 * cluster and delete the living one. Refuses that, in a preview too; a cluster that never answered may be renamed.
 */
export async function requireSameCluster(name: string, file: string): Promise<void> {
  if (isAsBefore()) return;
  const state = (await ownState()) ?? [];
  const held = state.filter(({ type }) => type === Cluster.type).map((cluster) => cluster.name);
  // Both are there where a rename was begun by an earlier release: that may come to its end.
  if (held.includes(name)) return;
  const living = held.find((other) =>
    state.some((one) => isInside(one) && one.name.startsWith(`${other}-`)),
  );
  if (living === undefined) return;
  throw new ConfigError(file, [
    {
      path: "cluster.name",
      message: `${living} cannot become ${name} while the cluster lives, which would be deleted with its data for one called ${name}; write ${living} again, or use another stack for another cluster`,
    },
  ]);
}
