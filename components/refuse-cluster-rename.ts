import { Cluster } from "./cluster.js";
import { isInsideKubernetes } from "./lifecycle/immutable-values.js";
import { configError } from "./pulumi/errors.js";
import { ownState } from "./pulumi/recorded-resources.js";

/**
 * Refuses another cluster name for a program with one cluster named by the configuration, also in a
 * preview: Pulumi would create a second cluster and delete the existing one. A cluster that never
 * answered may be renamed.
 */
export async function refuseClusterRename(name: string, file: string): Promise<void> {
  const state = (await ownState()) ?? [];
  const clusters = state.filter(({ type }) => type === Cluster.type).map((cluster) => cluster.name);
  // An earlier release may have begun a rename: if both clusters exist, it may finish.
  if (clusters.includes(name)) return;
  const living = clusters.find((other) =>
    state.some((one) => isInsideKubernetes(one) && one.name.startsWith(`${other}-`)),
  );
  if (living === undefined) return;
  throw configError(file, [
    {
      path: "cluster.name",
      message: `${living} cannot become ${name} while the cluster lives, which would be deleted with its data for one called ${name}; write ${living} again, or use another stack for another cluster`,
    },
  ]);
}
