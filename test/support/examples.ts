import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { ClusterArgs } from "../../components/cluster-spec.js";
import { packageRoot } from "../../base/paths.js";

const folder = join(packageRoot(), "examples");

/** Names of all that is in `examples/`. */
export const exampleNames = (): string[] => readdirSync(folder).sort();

/** What an example's stack file says of its cluster. */
export function exampleCluster(name: string): Readonly<Record<string, unknown>> {
  const file = join(folder, name, `Pulumi.${name}.yaml`);
  const { config } = parse(readFileSync(file, "utf8")) as {
    readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  return { name, ...config["stackadm:cluster"] };
}

/** The same with a login key, as arguments of a cluster; what is wrong in it, the cluster says. */
export const exampleArgs = (name: string): ClusterArgs =>
  ({ ssh: { publicKey: "ssh-ed25519 AAAALOGIN" }, ...exampleCluster(name) }) as ClusterArgs;
