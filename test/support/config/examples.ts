import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { getPackageRoot } from "../../../base/paths.js";
import { smallManifest } from "../manifests.js";
import { podNetworkOf } from "./pod-networks.js";

const folder = join(getPackageRoot(), "examples");

const stackFile = (name: string): string => join(folder, name, `Pulumi.${name}.yaml`);
export const programFile = (name: string): string => join(folder, name, "index.ts");

/** Returns the names of the examples that are stack files for this repository's program. */
export const exampleNames = (): string[] =>
  readdirSync(folder)
    .filter((name) => existsSync(stackFile(name)))
    .sort();

/**
 * Returns the names of the examples that are separate programs, which use the package as a library.
 */
export const programNames = (): string[] =>
  readdirSync(folder)
    .filter((name) => existsSync(programFile(name)))
    .sort();

/** Returns the cluster that an example's stack file describes. */
export function exampleCluster(name: string): Readonly<Record<string, unknown>> {
  const { config } = parse(readFileSync(stackFile(name), "utf8")) as {
    readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  return { name, ...config["stackadm:cluster"] };
}

/**
 * Returns the example as arguments of a cluster, with a login key and a local manifest instead of a
 * download.
 */
export function exampleArgs(name: string): ClusterArgs {
  const written = exampleCluster(name) as unknown as ClusterArgs;
  const podNetwork = podNetworkOf(written.podNetwork);
  return {
    ...written,
    ssh: { publicKey: "ssh-ed25519 AAAALOGIN" },
    podNetwork:
      "manifest" in podNetwork
        ? { ...podNetwork, manifest: smallManifest(podNetwork.kind) }
        : podNetwork,
  };
}
