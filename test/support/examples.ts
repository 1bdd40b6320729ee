import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { ClusterArgs } from "../../components/cluster-spec.js";
import { packageRoot } from "../../base/paths.js";
import { smallManifest } from "./manifests.js";
import { podNetworkOf } from "./pod-networks.js";

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

/** The same as arguments of a cluster: with a login key, and a manifest that nothing is downloaded for. */
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
