import { z } from "zod";
import type { OperationEnvironment } from "../../../automation/setup/environment.js";
import type { CloudClient } from "../../../cloud/client.js";
import { withSiteDefaults } from "../../../components/site.js";
import { isFields, type Fields } from "../../../components/spec/defaults.js";
import type { PluginOrigin, PluginPiece } from "../../../tools/evidence/row.js";
import type { Setup } from "../../../tools/evidence/record.js";
import type { Piece } from "../../../toolchain/toolchain.js";

const pieces: Readonly<Record<PluginPiece, string>> = {
  engine: "pulumi",
  nodejs: "pulumi-language-nodejs",
  openstack: "pulumi-resource-openstack",
  kubernetes: "pulumi-resource-kubernetes",
  command: "pulumi-resource-command",
};

const origins: Readonly<Record<Piece["origin"], PluginOrigin>> = {
  ...{ found: "official", installed: "official" },
  ...{ built: "built", "stand-in": "stand-in" },
};

/** Returns where each part of Pulumi comes from that a toolchain has. */
export function pluginsOf(toolchain: readonly Piece[]): Setup["plugins"] {
  const originOf = (name: string): PluginOrigin => {
    const piece = toolchain.find((one) => one.name === name);
    if (!piece) throw new Error(`the toolchain has no ${name}`);
    return origins[piece.origin];
  };
  const named = Object.entries(pieces).map(([piece, name]) => [piece, originOf(name)]);
  return Object.fromEntries(named) as Setup["plugins"];
}

/** Settings of a cluster that decide what its machines fetch, which parts of Kubernetes' own configuration they need, and who balances loads. */
const watched = [
  "kubernetes.packages",
  "kubernetes.registry",
  "kubernetes.images",
  "kubernetes.kubelet",
  "kubernetes.kubeProxy",
  "kubernetes.ignorePreflightErrors",
  "loadBalancer.provider",
  "podNetwork.manifest",
  "ssh.bootMinutes",
  "timeoutFactor",
];

/** Returns the paths of all values. */
const pathsOf = (fields: Fields): string[] =>
  Object.entries(fields).flatMap(([key, value]) =>
    isFields(value) ? pathsOf(value).map((inner) => `${key}.${inner}`) : [key],
  );

/** Returns the settings that stand in place of defaults: all that the site sets, and those watched here that the cluster sets. */
export function overridesOf(site: Fields, cluster: Fields): string[] {
  const own = pathsOf(cluster).filter((path) =>
    watched.some((one) => `${path}.`.startsWith(`${one}.`)),
  );
  return [...new Set([...pathsOf(site), ...own])].sort();
}

const listed = z.object({ images: z.array(z.object({ disk_format: z.string() })) });

/** Returns the kind of machine that the lab makes of an image: Glance says which are disks with a kernel on them. */
export async function machineOf(
  image: string,
  cloud: Pick<CloudClient, "request">,
): Promise<Setup["machine"]> {
  const path = `/images?name=${encodeURIComponent(image)}`;
  const { images } = listed.parse(await cloud.request("image", "GET", path));
  const [found, ...others] = images.map(({ disk_format: format }) => format);
  if (found === undefined || others.some((one) => one !== found))
    throw new Error(`Glance has ${images.length} images '${image}', not one`);
  return found === "qcow2" ? "kernel" : "container";
}

/** Returns the setup of a cluster on the lab, whose load balancers the lab's own driver makes, whatever it is called. */
export async function setupOf(
  cluster: Fields,
  { env, toolchain }: Pick<OperationEnvironment, "env" | "toolchain">,
  cloud: Pick<CloudClient, "request">,
): Promise<Setup> {
  const image = String(cluster["image"]);
  return {
    ...{ machine: await machineOf(image, cloud), image },
    overrides: overridesOf(withSiteDefaults({}, { ...env }), cluster),
    plugins: pluginsOf(toolchain.pieces),
    octavia: "lab",
  };
}
