import { Cluster } from "./cluster.js";
import { isKubernetesResource } from "./lifecycle/immutable-values.js";
import { createConfigError } from "./pulumi/errors.js";
import { readStateBeforeRun } from "./pulumi/recorded-resources.js";

/**
 * Refuses a changed cluster name, also in a preview. With a new name, Pulumi would create a second
 * cluster and delete the existing cluster. Accepts the new name if the API of the existing cluster
 * never answered. Only for programs with one cluster whose name is in the configuration.
 */
export async function refuseClusterRename(name: string, file: string): Promise<void> {
  const state = (await readStateBeforeRun()) ?? [];
  const clusters = state.filter(({ type }) => type === Cluster.type).map((cluster) => cluster.name);
  if (clusters.includes(name)) return;
  const living = clusters.find((other) =>
    state.some((one) => isKubernetesResource(one) && one.name.startsWith(`${other}-`)),
  );
  if (living === undefined) return;
  throw createConfigError(file, [
    {
      path: "cluster.name",
      message: `${living} cannot become ${name} while the cluster exists: Pulumi would delete it with its data and create another one; write ${living} again, or use another stack for another cluster`,
    },
  ]);
}
