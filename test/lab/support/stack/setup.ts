import { z } from "zod";
import type { OperationEnvironment } from "../../../../automation/setup/operation-environment.js";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { withSiteDefaults } from "../../../../components/config/site-defaults.js";
import { isPlainObject, type PlainObject } from "../../../../components/schema/merge-defaults.js";
import type { PulumiPartOrigin, PulumiPart } from "../../../../packages/tools/evidence/row.js";
import type { TestRunSetup } from "../../../../packages/tools/evidence/record.js";
import type { ToolchainProgram } from "../../../../automation/toolchain/toolchain.js";

const pieces: Readonly<Record<PulumiPart, string>> = {
  engine: "pulumi",
  nodejs: "pulumi-language-nodejs",
  openstack: "pulumi-resource-openstack",
  kubernetes: "pulumi-resource-kubernetes",
  command: "pulumi-resource-command",
};

const origins: Readonly<Record<ToolchainProgram["origin"], PulumiPartOrigin>> = {
  found: "official",
  installed: "official",
  built: "built",
  "stand-in": "stand-in",
};

/** Returns the origin of each part of Pulumi in a toolchain. */
export function pluginsOf(toolchain: readonly ToolchainProgram[]): TestRunSetup["plugins"] {
  const originOf = (name: string): PulumiPartOrigin => {
    const piece = toolchain.find((one) => one.name === name);
    if (!piece) throw new Error(`the toolchain has no ${name}`);
    return origins[piece.origin];
  };
  const named = Object.entries(pieces).map(([piece, name]) => [piece, originOf(name)]);
  return Object.fromEntries(named) as TestRunSetup["plugins"];
}

/**
 * Settings of a cluster that evidence records: settings that determine what machines download,
 * settings of Kubernetes that are not defaults, and the load balancer provider.
 */
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
const pathsOf = (fields: PlainObject): string[] =>
  Object.entries(fields).flatMap(([key, value]) =>
    isPlainObject(value) ? pathsOf(value).map((inner) => `${key}.${inner}`) : [key],
  );

/**
 * Returns the settings that replace defaults: all settings of the site, and the cluster's settings
 * in `watched`.
 */
export function overridesOf(site: PlainObject, cluster: PlainObject): string[] {
  const own = pathsOf(cluster).filter((path) =>
    watched.some((one) => `${path}.`.startsWith(`${one}.`)),
  );
  return [...new Set([...pathsOf(site), ...own])].sort();
}

const listed = z.object({ images: z.array(z.object({ disk_format: z.string() })) });

/**
 * Returns the kind of machine that the lab creates from an image. The disk format in Glance shows
 * whether the image contains a kernel.
 */
export async function machineOf(
  image: string,
  cloud: Pick<CloudClient, "request">,
): Promise<TestRunSetup["machine"]> {
  const path = `/images?name=${encodeURIComponent(image)}`;
  const { images } = listed.parse(await cloud.request("image", "GET", path));
  const [found, ...others] = images.map(({ disk_format: format }) => format);
  if (found === undefined || others.some((one) => one !== found))
    throw new Error(`Glance has ${images.length} images '${image}', not one`);
  return found === "qcow2" ? "kernel" : "container";
}

/**
 * Returns the setup of a cluster on the lab. The lab's own Octavia driver provides all load
 * balancers. The name of the provider does not matter.
 */
export async function setupOf(
  cluster: PlainObject,
  { env, toolchain }: Pick<OperationEnvironment, "env" | "toolchain">,
  cloud: Pick<CloudClient, "request">,
): Promise<TestRunSetup> {
  const image = String(cluster["image"]);
  return {
    machine: await machineOf(image, cloud),
    image,
    overrides: overridesOf(withSiteDefaults({}, { ...env }), cluster),
    plugins: pluginsOf(toolchain.pieces),
    octavia: "lab",
  };
}
