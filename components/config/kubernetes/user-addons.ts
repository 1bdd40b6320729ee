/** Add-ons that the user deploys in order with the cluster's own. */
import { z } from "zod";
import { isDeployedByProgram, type PodNetworkSpec } from "../../pod-network/pod-network-kinds.js";
import {
  dnsLabelField,
  doc,
  list,
  shortValue,
  strictObject,
  textField,
} from "../../schema/fields.js";

interface Deploying {
  readonly podNetwork: PodNetworkSpec;
  readonly cloudController: { readonly enabled?: boolean | undefined };
  readonly metricsServer?: unknown;
  readonly kubernetes: { readonly keystone?: unknown };
  readonly ingress?: unknown;
  readonly samples: boolean;
}

/**
 * Add-ons of the cluster, by the names that `after` accepts. Each function returns whether a
 * cluster has the add-on.
 */
export const clusterAddons = {
  podNetwork: ({ podNetwork }) => isDeployedByProgram(podNetwork),
  cloudController: ({ cloudController }) => cloudController.enabled !== false,
  blockStorage: () => true,
  metricsServer: ({ metricsServer }) => metricsServer === true,
  keystone: ({ kubernetes }) => kubernetes.keystone !== undefined,
  ingress: ({ ingress }) => ingress !== undefined,
  samples: ({ samples }) => samples,
} as const satisfies Readonly<Record<string, (cluster: Deploying) => boolean>>;
export type ClusterAddonName = keyof typeof clusterAddons;

const clusterAddonNames = Object.keys(clusterAddons) as readonly ClusterAddonName[];
const isClusterAddon = (name: string): name is ClusterAddonName => name in clusterAddons;

/** Add-ons whose controllers own load balancers and volumes in the cloud. */
const ownerNames: readonly string[] = [
  "cloudController",
  "blockStorage",
] satisfies ClusterAddonName[];

const rendered = (command: string): string =>
  `is not rendered here; run \`${command} > addon.yaml\`, and write \`manifest: addon.yaml\``;

export const userAddonsSchema = list(
  strictObject(
    {
      name: dnsLabelField("the name of an add-on").meta(
        doc(
          "in place",
          "Name of the add-on, unique among all add-ons. With another name, its objects are deleted and created again.",
        ),
      ),
      manifest: textField(
        (value) => value.trim() !== "" && !/[\r\n]/.test(value),
        "is not a path and not a URL; write one, or write the objects as `yaml`",
      )
        .optional()
        .meta(
          doc(
            "in place",
            "Manifest with the objects: a path relative to the project's directory, or an https URL with `sha256`.",
          ),
        ),
      sha256: textField(
        (value) => /^[0-9a-f]{64}$/.test(value),
        "is not a SHA-256; write 64 hexadecimal digits, as `sha256sum` shows them",
      )
        .optional()
        .meta(
          doc(
            "in place",
            "SHA-256 of `manifest`. Required with a URL. A file with another digest is refused before anything changes.",
            "a file is not compared",
          ),
        ),
      yaml: textField(
        (value) => value.trim() !== "",
        "holds no object; write Kubernetes objects in YAML",
      )
        .optional()
        .meta(doc("in place", "The objects as text, in place of `manifest`.")),
      after: list(
        textField((value) => value !== "", "is not the name of an add-on; write one"),
        0,
        "a list of add-ons",
      )
        .optional()
        .meta(
          doc(
            "in place",
            `Add-ons that are deployed first: other add-ons of this list, and ${clusterAddonNames.map((name) => `\`${name}\``).join(", ")}. With \`[]\`, the add-on is deployed as soon as the API answers, as a pod network needs it.`,
            "all add-ons of the cluster",
          ),
        ),
    },
    {
      kustomize: rendered("kubectl kustomize DIRECTORY"),
      chart: rendered("helm template NAME CHART"),
      helm: rendered("helm template NAME CHART"),
    },
  ),
  0,
  "a list of add-ons",
).default([]);

export type UserAddon = z.output<typeof userAddonsSchema>[number];

/** Add-on with the names of all add-ons that come first. */
export interface OrderedAddon extends Omit<UserAddon, "after"> {
  readonly after: readonly string[];
  /**
   * Whether a destroy deletes the add-on's objects before the cloud controller and the storage
   * driver. Other objects, such as a pod network, exist until the machines are deleted.
   */
  readonly released: boolean;
}

const listAfter = (addon: UserAddon, cluster: Deploying): readonly string[] =>
  addon.after ?? clusterAddonNames.filter((name) => clusterAddons[name](cluster));

/**
 * Returns the add-ons in an order in which each add-on comes after those that it names. The
 * add-ons must have passed {@link findUserAddonConflicts}.
 */
export function orderUserAddons(
  cluster: Deploying & { readonly addons: readonly UserAddon[] },
): readonly OrderedAddon[] {
  const { addons } = cluster;
  const ordered: OrderedAddon[] = [];
  const add = (addon: UserAddon): OrderedAddon => {
    const known = ordered.find(({ name }) => name === addon.name);
    if (known) return known;
    const after = listAfter(addon, cluster);
    const earlier = addons.filter(({ name }) => after.includes(name)).map(add);
    const released =
      after.some((name) => ownerNames.includes(name)) || earlier.some((one) => one.released);
    const made = { ...addon, after, released };
    ordered.push(made);
    return made;
  };
  addons.forEach(add);
  return ordered;
}

/** Reports names, sources and orders of add-ons that are not possible. */
export function findUserAddonConflicts(
  cluster: Deploying & { readonly addons: readonly UserAddon[] },
): z.core.$ZodRawIssue[] {
  const { addons } = cluster;
  return addons.flatMap((addon, index) => [
    ...findNameConflicts(addons, index),
    ...findSourceConflicts(addon, index),
    ...findUnknownNames(cluster, index),
    ...findCycle(addons, index),
  ]);
}

const issue = (
  index: number,
  key: string,
  input: unknown,
  message: string,
): z.core.$ZodRawIssue => ({
  code: "custom",
  path: ["addons", index, key],
  input,
  message: `${shortValue(input)} ${message}`,
});

function findNameConflicts(addons: readonly UserAddon[], index: number): z.core.$ZodRawIssue[] {
  const name = addons[index]?.name ?? "";
  if (isClusterAddon(name))
    return [issue(index, "name", name, "is an add-on of the cluster; write another name")];
  return addons.findIndex((one) => one.name === name) < index
    ? [issue(index, "name", name, "is the name of an earlier add-on; write another name")]
    : [];
}

/** Returns an issue without the value, which may be an encrypted text of the settings. */
const bothSources = (index: number): z.core.$ZodRawIssue => ({
  code: "custom",
  path: ["addons", index, "yaml"],
  input: "",
  message: "is written in addition to `manifest`; write one of them",
});

function findSourceConflicts(
  { manifest, yaml, sha256 }: UserAddon,
  index: number,
): z.core.$ZodRawIssue[] {
  if (manifest === undefined && yaml === undefined)
    return [
      issue(index, "manifest", undefined, "is written; write the path of a manifest, or `yaml`"),
    ];
  if (manifest === undefined)
    return sha256 === undefined
      ? []
      : [issue(index, "sha256", sha256, "is the digest of a manifest; leave it out with `yaml`")];
  const both = yaml === undefined ? [] : [bothSources(index)];
  return [...both, ...findAddressConflicts(manifest, sha256, index)];
}

function findAddressConflicts(
  manifest: string,
  sha256: string | undefined,
  index: number,
): z.core.$ZodRawIssue[] {
  if (!/^[a-z]+:\/\//i.test(manifest)) return [];
  if (!manifest.startsWith("https://"))
    return [issue(index, "manifest", manifest, "is no https URL; write https:// or a path")];
  return sha256 === undefined
    ? [
        issue(
          index,
          "sha256",
          undefined,
          "is written; write the SHA-256 of the manifest, as `sha256sum` shows it",
        ),
      ]
    : [];
}

function findUnknownNames(
  cluster: Deploying & { readonly addons: readonly UserAddon[] },
  index: number,
): z.core.$ZodRawIssue[] {
  const { addons } = cluster;
  return (addons[index]?.after ?? []).flatMap((name): z.core.$ZodRawIssue[] => {
    if (isClusterAddon(name))
      return clusterAddons[name](cluster)
        ? []
        : [issue(index, "after", name, "is not deployed in this cluster; leave it out")];
    if (addons.some((one) => one.name === name)) return [];
    const known = [...clusterAddonNames, ...addons.map((one) => one.name)].join(", ");
    return [issue(index, "after", name, `is no add-on; write one of ${known}`)];
  });
}

/** Reports the cycle that begins at an add-on, unless an earlier add-on is in the cycle. */
function findCycle(addons: readonly UserAddon[], index: number): z.core.$ZodRawIssue[] {
  const start = addons[index];
  if (!start) return [];
  const pathTo = (from: UserAddon, seen: readonly string[]): readonly string[] | undefined => {
    for (const name of from.after ?? []) {
      if (name === start.name) return [...seen, name];
      const next = addons.findIndex((one) => one.name === name);
      const addon = addons[next];
      if (!addon || next < index || seen.includes(name)) continue;
      const found = pathTo(addon, [...seen, name]);
      if (found) return found;
    }
    return undefined;
  };
  const path = pathTo(start, [start.name]);
  return path === undefined
    ? []
    : [
        issue(
          index,
          "after",
          start.after,
          `makes a cycle: ${path.join(" after ")}; leave one of them out`,
        ),
      ];
}
