import { z } from "zod";
import { clusterShape, type ClusterSpec } from "./cluster-spec.js";
import { isFields } from "./defaults.js";
import { floatingIpsOfWays, isOfWay } from "./floating-ips.js";

/** Values by the path at which they are written, each as one line of text: `network.pods` to `10.244.0.0/16`. */
export type Frozen = Readonly<Record<string, string>>;

/** The JSON schema of an argument, as far as it is read here. */
interface Schema {
  readonly change?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** A machine with a volume of its own keeps having one: of what size and type follows its generation. */
const isVolume = (path: string): boolean => /\.[a-z]+Volume\.size$/.test(path);
/** All that is written down of that, so that another size is no change as long as it waits. Earlier releases wrote the size. */
const ofItsOwn = "a volume of its own";
/** What earlier releases kept of it besides. */
const isOfVolume = (path: string): boolean => /\.[a-z]+Volume\.(type|zone)$/.test(path);

/** Entries of a list have no name to compare them by, so nothing in a list is frozen. */
function frozenIn(schema: Schema, value: unknown, path: string): [string, string][] {
  if (value === undefined) return [];
  if (isVolume(path)) return [[path, ofItsOwn]];
  if (schema.change === "refused") return [[path, canonical(keptOf(schema, value))]];
  const kinds = kindsOf(schema);
  return [
    ...kinds.flatMap((kind) => frozenIn(kind, value, path)),
    ...Object.entries(isFields(value) ? value : {}).flatMap(([key, inner]) => {
      const { properties, additionalProperties: others } = schema;
      const below = properties?.[key] ?? (typeof others === "object" ? others : {});
      return frozenIn(below, inner, path === "" ? key : `${path}.${key}`);
    }),
  ];
}

const kindsOf = ({ anyOf = [], oneOf = [] }: Schema): readonly Schema[] => [...anyOf, ...oneOf];

/**
 * Of a kind with options: those that are frozen themselves and not left at their default; the kind's word alone where there
 * is none. So a kind that gets options, or more of them, stays what living clusters have; a default never changes.
 */
function keptOf(schema: Schema, value: unknown): unknown {
  if (!isFields(value)) return value;
  const kind = kindsOf(schema).find(
    ({ properties }) => properties?.["kind"]?.const === value["kind"],
  );
  if (kind === undefined) return value;
  const options = Object.entries(value).filter(([key, written]) => {
    const { change, default: otherwise } = kind.properties?.[key] ?? {};
    return change === "refused" && canonical(written) !== canonical(otherwise);
  });
  return options.length === 0
    ? value["kind"]
    : { kind: value["kind"], ...Object.fromEntries(options) };
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isFields(value)) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([key, inner]) => [key, sorted(inner)]));
};

/** Equal values give equal text, in whatever order their fields were written. */
const canonical = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(sorted(value));

/** Where a cluster was made without something, for good. */
const nothing = "nothing";

/**
 * Fields that a living cluster keeps of what may change otherwise, and what it has of one that it says nothing of: pods were
 * started by them, or kubelet would not start again with another.
 */
const keptFields: Readonly<Record<string, Frozen>> = {
  "kubernetes.kubelet": {
    cgroupDriver: "systemd",
    clusterDNS: nothing,
    clusterDomain: nothing,
    cpuManagerPolicy: nothing,
    memoryManagerPolicy: nothing,
  },
  "kubernetes.kubeProxy": { clusterCIDR: nothing, mode: nothing },
};

const keptOfFields = (path: string, value: unknown): [string, string][] =>
  Object.entries(keptFields[path] ?? {}).flatMap(([field, otherwise]) => {
    const written = isFields(value) ? value[field] : undefined;
    const kept = written === undefined ? otherwise : canonical(written);
    return kept === otherwise ? [] : [[`${path}.${field}`, kept] as [string, string]];
  });

/** What a cluster has that was made when all these fields together were one value. */
const byField = (values: Frozen): Frozen =>
  Object.fromEntries(
    Object.entries(values).flatMap(([path, value]): [string, string][] =>
      Object.hasOwn(keptFields, path) ? keptOfFields(path, JSON.parse(value)) : [[path, value]],
    ),
  );

/**
 * What a cluster has of a path that it says nothing of, as those do that were made before the path was known. It is not written
 * down, so that no script runs again for a new path.
 */
export const unwritten: Frozen = {
  externalNetwork: nothing,
  "loadBalancer.enabled": "true",
  "network.portSecurity": "true",
  "network.ipv6.nodes": nothing,
  "cloudController.enabled": "true",
  "etcd.kind": nothing,
  "network.existing.network": nothing,
  "kubernetes.certificates.authorityValidity": nothing,
  "kubernetes.images.etcd": nothing,
  "kubernetes.patches.etcd": nothing,
  ...Object.fromEntries(
    Object.entries(keptFields).flatMap(([path, fields]) =>
      Object.entries(fields).map(([field, otherwise]) => [`${path}.${field}`, otherwise]),
    ),
  ),
  "network.admin.network": nothing,
  "endpoint.floatingIp": nothing,
};

/** That the cloud is known by an authority of its own, whichever: it is no argument, but what a run has of who starts it. */
export const authorityPath = "operator.caCertificate";

/** The same of a client certificate, which the controllers show the cloud. */
export const clientPath = "operator.clientCertificate";

const ofOperator: ReadonlySet<string> = new Set([authorityPath, clientPath]);

/** What is said of what has no value to be written again. */
const sentences: Frozen = {
  [authorityPath]:
    "the cluster knows the cloud by an authority of its own, and this run knows none: its controllers and machines could not reach the cloud any more; name the authority's certificate as `cacert` in clouds.yaml or as OS_CACERT, and where a public authority has taken its place, that one's",
  [clientPath]:
    "the cluster's controllers show the cloud a client certificate, and this run has none: they could not reach the cloud any more; name one and its key as `cert` and `key` in clouds.yaml or as OS_CERT and OS_KEY, and where the cloud asks for none any more, any",
};

/** What a cluster can get while it lives and not lose, and how it is without. */
const gained: Frozen = {
  [authorityPath]: nothing,
  [clientPath]: nothing,
  "blockStorage.snapshots": "false",
  "loadBalancer.network.range": nothing,
  "loadBalancer.network.externalNetwork": nothing,
};

/** By which every machine is reached, so none of them is asked whether it is the former one. */
const loginPath = "ssh.user";

/** The version of Kubernetes. Another one is an upgrade, which may be refused (plan/upgrades.ts). */
export const versionPath = "kubernetes.version";

/** Of the groups of machines that are replaced one after another, in runs of their own (plan/replacements.ts). */
const generations = ["controlPlane.generation", "bastion.generation", "etcd.generation"] as const;
const isGeneration = (path: string): boolean => generations.some((one) => one === path);

/** Whether machines may have to be replaced that must not be. */
export const otherGenerations = (before: Frozen, now: Frozen): boolean =>
  generations.some((path) => before[path] !== now[path]);

/** Made when it is first asked for, and once: a program with many clusters waits for it as long as for all the rest. */
let schemaOfClusters: Schema | undefined;

/** What a cluster keeps while it lives. A name of something in the cloud stands for its ID: give the ID where it is known. */
export function frozenValues(spec: ClusterSpec): Frozen {
  schemaOfClusters ??= z.toJSONSchema(clusterShape, {
    io: "output",
    unrepresentable: "any",
  }) as Schema;
  const found = [
    ...frozenIn(schemaOfClusters, spec, ""),
    [versionPath, spec.kubernetes.version] as [string, string],
    ...keptOfFields("kubernetes.kubelet", spec.kubernetes.kubelet),
    ...keptOfFields("kubernetes.kubeProxy", spec.kubernetes.kubeProxy),
    ...floatingIpsOfWays(spec).map(([path, given]): [string, string] => [path, given ?? nothing]),
  ];
  return Object.fromEntries(
    found.filter(([path, value]) => ({ ...unwritten, ...gained })[path] !== value),
  );
}

/**
 * The group of machines that keeps a value, or the machine, if it is one's and not the cluster's: `workers.gpu` of
 * `workers.gpu.rootVolume.size`, `workers.gpu.nodes.0` of `workers.gpu.nodes.0.address`.
 */
export const groupOf = (path: string): string | undefined =>
  /^(?:cluster\.)?((?:controlPlane|etcd|bastion|workers\.[^.]+)(?:\.nodes\.\d+)?)\.(?:[a-z]+Volume\.|address$)/.exec(
    path,
  )?.[1];

/**
 * The same for kubeadm/scripts/frozen.sh, a line each: `path value`, in an order that no schema changes: no script runs again for
 * it. Without what a group or a way in keeps, which may go and come again otherwise, and without what no machine can tell.
 */
export const frozenLines = (values: Frozen): string =>
  Object.entries(values)
    .filter(([path]) => groupOf(path) === undefined && !ofOperator.has(path) && path !== loginPath)
    .filter(([path]) => !isGeneration(path) && !isOfWay(path) && path !== versionPath)
    .map(([path, value]) => `${path} ${value}`)
    .sort()
    .join("\n");

/**
 * Every frozen value that a living cluster has otherwise. A path that only one side has is none: a release that freezes more
 * never stops a cluster of the one before. Except for what is known of a cluster that says nothing.
 */
export function compareFrozen(
  before: Frozen,
  now: Frozen,
): { readonly path: string; readonly message: string }[] {
  const was = new Map(Object.entries({ ...unwritten, ...byField(before) }));
  const lost = Object.entries(gained).filter(([path]) => was.has(path));
  const is = { ...unwritten, ...Object.fromEntries(lost), ...byField(now) };
  return Object.entries(is).flatMap(([path, value]) => {
    const mayChange =
      isGeneration(path) || isVolume(path) || isOfVolume(path) || path === versionPath;
    const kept = mayChange ? value : (was.get(path) ?? value);
    const again = kept === nothing ? "leave it out again" : `write ${kept} again`;
    const message =
      sentences[path] ??
      `${kept} cannot become ${value} while the cluster lives; ${again}, or destroy the cluster and create it again`;
    return kept === value ? [] : [{ path: `cluster.${path}`, message }];
  });
}

/**
 * What a group of machines has, or had, on one side only: its machines were made with it, or without. Nothing that a release
 * freezes for the first time is among it, as every group keeps only what is written.
 */
export const compareGroups = (
  before: Frozen,
  now: Frozen,
): { readonly path: string; readonly message: string }[] => {
  const oneSided = (some: Frozen, others: Frozen): string[] =>
    Object.keys(some).filter(
      (path) => groupOf(path) !== undefined && !isOfVolume(path) && !(path in others),
    );
  const otherwise = (path: string): string =>
    path.startsWith("workers.")
      ? ", or make another pool, move the pods there and remove this one"
      : "; these keep what they were made with";
  return [
    ...oneSided(before, now).map((path) => ({
      path: `cluster.${path}`,
      message: `${before[path] ?? ""} cannot be taken from machines that live; write it again${otherwise(path)}`,
    })),
    ...oneSided(now, before).map((path) => ({
      path: `cluster.${path}`,
      message: `${now[path] ?? ""} cannot be given to machines that live; leave it out${otherwise(path)}`,
    })),
  ];
};
