import { z } from "zod";
import { clusterShape, type ClusterSpec } from "./cluster-spec.js";
import { isFields } from "./defaults.js";
import { floatingIpsOfWays, isOfWay } from "./floating-ips.js";

/**
 * Values by their path in the arguments, each as one line of text: `network.pods` to
 * `10.244.0.0/16`.
 */
export type Frozen = Readonly<Record<string, string>>;

/** JSON schema of an argument, reduced to the keywords that this file reads. */
interface Schema {
  readonly change?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/**
 * Returns whether the path is the size of a separate volume. Machines keep having the volume; its
 * size and type follow their generation.
 */
const isVolume = (path: string): boolean => /\.[a-z]+Volume\.size$/.test(path);
/**
 * Text stored instead of a volume's size: a new size that waits for the next generation is then no
 * change. Earlier releases stored the size.
 */
const ofItsOwn = "a volume of its own";
/** Returns whether the path is one that earlier releases also stored for such a volume. */
const isOfVolume = (path: string): boolean => /\.[a-z]+Volume\.(type|zone)$/.test(path);

/**
 * Returns the frozen values of an argument and everything below it. Lists are skipped: their
 * entries have no name to compare by.
 */
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
 * Returns the part of a value that a later run must not change. For an object with a `kind`, this
 * is the `kind` plus each frozen option that differs from the option's default; if all options
 * equal their defaults, it is only the `kind`. A new option with a default then changes nothing
 * in existing clusters.
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

/** Returns equal text for equal values, in whatever order their fields were written. */
const canonical = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(sorted(value));

/** Value of a path that the cluster was created without. */
const nothing = "nothing";

/**
 * Fields that are frozen although their argument may change, with the value assumed where a cluster
 * stores none: pods were started with them, or kubelet would not start again with another value.
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

/** Splits values that earlier releases stored as one JSON object for all these fields. */
const byField = (values: Frozen): Frozen =>
  Object.fromEntries(
    Object.entries(values).flatMap(([path, value]): [string, string][] =>
      Object.hasOwn(keptFields, path) ? keptOfFields(path, JSON.parse(value)) : [[path, value]],
    ),
  );

/**
 * Values assumed for paths that a cluster does not store, as if it was created before the path was
 * frozen. They are not stored, so that a new path makes no script run again.
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

/**
 * Path that states that the cloud uses its own CA, whichever it is. It is no argument: its value
 * comes from the environment of the user who runs the program.
 */
export const authorityPath = "operator.caCertificate";

/** Path that states that the controllers present a client certificate to the cloud. */
export const clientPath = "operator.clientCertificate";

const ofOperator: ReadonlySet<string> = new Set([authorityPath, clientPath]);

/** Error messages for paths whose old value a user could not simply write again. */
const sentences: Frozen = {
  [authorityPath]:
    "the cluster knows the cloud by an authority of its own, and this run knows none: its controllers and machines could not reach the cloud any more; name the authority's certificate as `cacert` in clouds.yaml or as OS_CACERT, and where a public authority has taken its place, that one's",
  [clientPath]:
    "the cluster's controllers show the cloud a client certificate, and this run has none: they could not reach the cloud any more; name one and its key as `cert` and `key` in clouds.yaml or as OS_CERT and OS_KEY, and where the cloud asks for none any more, any",
};

/**
 * Settings that an existing cluster can gain but not lose, with the value that stands for their
 * absence.
 */
const gained: Frozen = {
  [authorityPath]: nothing,
  [clientPath]: nothing,
  "blockStorage.snapshots": "false",
  "loadBalancer.network.range": nothing,
  "loadBalancer.network.externalNetwork": nothing,
};

/** Path of the login user. Machines are not asked for it, because every login already uses it. */
const loginPath = "ssh.user";

/**
 * Path of the Kubernetes version. A change is an upgrade, which may be refused (plan/upgrades.ts).
 */
export const versionPath = "kubernetes.version";

/**
 * Generations of the groups whose machines are replaced one after another, in separate runs
 * (plan/replacements.ts).
 */
const generations = ["controlPlane.generation", "bastion.generation", "etcd.generation"] as const;
const isGeneration = (path: string): boolean => generations.some((one) => one === path);

/**
 * Returns whether a generation changed, so that machines may be replaced that normally must not be.
 */
export const otherGenerations = (before: Frozen, now: Frozen): boolean =>
  generations.some((path) => before[path] !== now[path]);

/**
 * JSON schema of a cluster, built once on first use: for a program with many clusters, building it
 * takes as long as everything else.
 */
let schemaOfClusters: Schema | undefined;

/**
 * Returns the values that a cluster keeps while it exists. Names of cloud objects are compared as
 * IDs: pass the ID where it is known.
 */
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
 * Returns the group of machines, or the machine, to which a path belongs; undefined if it belongs
 * to the cluster. Returns `workers.gpu` for `workers.gpu.rootVolume.size`, `workers.gpu.nodes.0`
 * for `workers.gpu.nodes.0.address`.
 */
export const groupOf = (path: string): string | undefined =>
  /^(?:cluster\.)?((?:controlPlane|etcd|bastion|workers\.[^.]+)(?:\.nodes\.\d+)?)\.(?:[a-z]+Volume\.|address$)/.exec(
    path,
  )?.[1];

/**
 * Returns the lines `path value` for kubeadm/scripts/frozen.sh, sorted, so that a reordered schema
 * makes no script run again. Leaves out values of groups and of floating IPs, which may be removed
 * and set again, and values that no machine knows.
 */
export const frozenLines = (values: Frozen): string =>
  Object.entries(values)
    .filter(([path]) => groupOf(path) === undefined && !ofOperator.has(path) && path !== loginPath)
    .filter(([path]) => !isGeneration(path) && !isOfWay(path) && path !== versionPath)
    .map(([path, value]) => `${path} ${value}`)
    .sort()
    .join("\n");

/**
 * Returns every frozen value that differs from the existing cluster's. Ignores paths that only one
 * side has, so a release that freezes more paths accepts clusters of the previous release. Paths in
 * `unwritten` are always compared; of paths in `gained`, only a loss is reported.
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
 * Returns the values of machine groups that only one side has: existing machines were created with
 * or without them. Paths that a release freezes for the first time do not appear, because a group
 * stores only what the user writes.
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
