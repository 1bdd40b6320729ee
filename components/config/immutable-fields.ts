import { z } from "zod";
import { clusterFieldsSchema, type ClusterSpec } from "./cluster-spec.js";
import { listSeparateRoles } from "./roles.js";
import { isPlainObject } from "../schema/merge-defaults.js";
import { listKeptFields, nothing } from "./kubernetes/flags/decision.js";
import { kubeletDecisions } from "./kubernetes/flags/kubelet.js";
import { kubeProxyDecisions } from "./kubernetes/flags/kube-proxy.js";
import {
  listReplaceableFloatingIps,
  isReplaceableFloatingIpPath,
} from "./network/existing-floating-ip-checks.js";

/**
 * Values that an existing cluster must keep ("frozen" values), by their path in the arguments. Each
 * value is one line of text: `network.pods` has `10.244.0.0/16`.
 */
export type FrozenValuesByPath = Readonly<Record<string, string>>;

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
 * Returns whether the path belongs to a volume's size. Existing machines neither gain nor lose a
 * volume. A new size applies when a raised `generation` replaces the machines.
 */
const isVolume = (path: string): boolean => /\.[a-z]+Volume\.size$/.test(path);
/**
 * Text that is stored instead of a volume's size. The text records only that the volume exists, so
 * a new size is not a change and is not refused.
 */
const volumeExistsText = "a volume of its own";

/**
 * Returns the frozen values of the argument at `path` and of all arguments below it, each with its
 * path. Skips arguments inside lists, because list entries have no names that two runs could
 * compare.
 */
function frozenIn(schema: Schema, value: unknown, path: string): [string, string][] {
  if (value === undefined) return [];
  if (isVolume(path)) return [[path, volumeExistsText]];
  if (schema.change === "refused") return [[path, canonical(getFrozenPart(schema, value))]];
  const kinds = kindsOf(schema);
  return [
    ...kinds.flatMap((kind) => frozenIn(kind, value, path)),
    ...Object.entries(isPlainObject(value) ? value : {}).flatMap(([key, inner]) => {
      const { properties, additionalProperties: others } = schema;
      const below = properties?.[key] ?? (typeof others === "object" ? others : {});
      return frozenIn(below, inner, path === "" ? key : `${path}.${key}`);
    }),
  ];
}

const kindsOf = ({ anyOf = [], oneOf = [] }: Schema): readonly Schema[] => [...anyOf, ...oneOf];

/**
 * Returns the frozen part of a value. For an object with a `kind`, the frozen part is the `kind`
 * and each frozen option that differs from its default. If all options have their defaults, returns
 * only the `kind`. An option that a newer release adds is therefore not a change for existing
 * clusters.
 */
function getFrozenPart(schema: Schema, value: unknown): unknown {
  if (!isPlainObject(value)) return value;
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
  if (!isPlainObject(value)) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([key, inner]) => [key, sorted(inner)]));
};

/** Returns the value as text with sorted fields. Equal values give equal text. */
const canonical = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(sorted(value));

/**
 * Fields that are frozen although other fields of the same argument may change. The value of each
 * field is assumed for clusters that do not store the field. After a change of such a field,
 * running pods would no longer match, or kubelet would not start.
 */
const keptFields: Readonly<Record<string, FrozenValuesByPath>> = {
  "kubernetes.kubelet": listKeptFields(kubeletDecisions),
  "kubernetes.kubeProxy": listKeptFields(kubeProxyDecisions),
};

const keptOfFields = (path: string, value: unknown): [string, string][] =>
  Object.entries(keptFields[path] ?? {}).flatMap(([field, otherwise]) => {
    const written = isPlainObject(value) ? value[field] : undefined;
    // An empty text means the default of the component.
    const kept = written === undefined || written === "" ? otherwise : canonical(written);
    return kept === otherwise ? [] : [[`${path}.${field}`, kept] as [string, string]];
  });

/**
 * Values that are assumed for paths that a cluster does not store, because its release did not
 * freeze these paths yet. A value that equals the assumed value is not stored. An additional frozen
 * path therefore does not change the input of scripts.
 */
export const assumedFrozenValues: FrozenValuesByPath = {
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
 * Path of the value that records whether the cloud has a private CA. The path is not an argument,
 * because the value comes from the environment of the user who runs the program.
 */
export const caCertificateFrozenPath = "operator.caCertificate";

/** Path of the value that records whether the controllers have a client certificate. */
export const clientCertificateFrozenPath = "operator.clientCertificate";

const ofOperator: ReadonlySet<string> = new Set([
  caCertificateFrozenPath,
  clientCertificateFrozenPath,
]);

/** Path of kube-proxy's mode. Its default depends on the pod network. */
export const kubeProxyModePath = "kubernetes.kubeProxy.mode";

/**
 * Error messages for paths that are not arguments. The usual message would ask the user to write
 * the path in the settings.
 */
const sentences: FrozenValuesByPath = {
  [caCertificateFrozenPath]:
    "the cluster was created with a CA certificate of the cloud, and this run has none: its controllers and machines could not reach the cloud any more; name the CA certificate as `cacert` in clouds.yaml or as OS_CACERT; if the cloud now has a certificate of a public CA, name the root certificate of that CA",
  [clientCertificateFrozenPath]:
    "the cluster's controllers use a client certificate, and this run has none: they could not reach the cloud any more; name one and its key as `cert` and `key` in clouds.yaml or as OS_CERT and OS_KEY; if the cloud no longer asks for one, name any certificate",
};

/**
 * Settings that an existing cluster can gain but not lose, each with the value that stands for the
 * absence of the setting.
 */
const gainableSettings: FrozenValuesByPath = {
  [caCertificateFrozenPath]: nothing,
  [clientCertificateFrozenPath]: nothing,
  "blockStorage.snapshots": "false",
  "loadBalancer.network.range": nothing,
  "loadBalancer.network.externalNetwork": nothing,
};

/**
 * Path of the login name. Machines do not check the name (see {@link renderFrozenValues}). With a
 * wrong login name, no script runs on a machine, so no check would run either.
 */
const loginPath = "ssh.user";

/** Path of the Kubernetes version. A change is an upgrade, which plan/upgrades.ts checks. */
export const versionFieldPath = "kubernetes.version";

/**
 * Path of Octavia's driver. A change is not refused. The value is recorded, so that an existing
 * cluster keeps its driver if a newer release has another default (recorded-defaults.ts).
 */
export const loadBalancerProviderPath = "loadBalancer.provider";

/**
 * Paths of the generations of control planes and of machines that are not nodes.
 * plan/replacements.ts decides which machines of these groups a run may replace.
 */
const generations = ["controlPlane", ...listSeparateRoles()].map((path) => `${path}.generation`);
const isGeneration = (path: string): boolean => generations.includes(path);

/**
 * Returns whether a generation of control planes or of machines that are not nodes changed. If so,
 * plan/replacements.ts checks whether the run may replace the machines.
 */
export const hasChangedGeneration = (
  before: FrozenValuesByPath,
  now: FrozenValuesByPath,
): boolean => generations.some((path) => before[path] !== now[path]);

/**
 * JSON schema of a cluster's arguments, built only once, at first use. Building it each time would
 * double the time of a program with many clusters.
 */
let schemaOfClusters: Schema | undefined;

/**
 * Returns the frozen values of a cluster. The caller replaces the names of OpenStack objects in
 * `spec` by their IDs, if the caller knows the IDs. An ID instead of the name of the same object is
 * therefore not a change.
 */
export function collectFrozenValues(spec: ClusterSpec): FrozenValuesByPath {
  schemaOfClusters ??= z.toJSONSchema(clusterFieldsSchema, {
    io: "output",
    unrepresentable: "any",
  }) as Schema;
  const found = [
    ...frozenIn(schemaOfClusters, spec, ""),
    [versionFieldPath, spec.kubernetes.version] as [string, string],
    [loadBalancerProviderPath, spec.loadBalancer.provider] as [string, string],
    ...keptOfFields("kubernetes.kubelet", spec.kubernetes.kubelet),
    ...keptOfFields("kubernetes.kubeProxy", spec.kubernetes.kubeProxy),
    ...listReplaceableFloatingIps(spec).map(([path, given]): [string, string] => [
      path,
      given ?? nothing,
    ]),
  ];
  return Object.fromEntries(
    found.filter(
      ([path, value]) => ({ ...assumedFrozenValues, ...gainableSettings })[path] !== value,
    ),
  );
}

/**
 * Returns the path of the machine group or single machine to which a volume or an address belongs:
 * `workers.gpu` for `workers.gpu.rootVolume.size`, and `workers.gpu.nodes.0` for
 * `workers.gpu.nodes.0.address`. Returns undefined for all other paths.
 */
export const findMachineGroupPath = (path: string): string | undefined =>
  valueOfGroup.exec(path)?.[1];

const groups = ["controlPlane", ...listSeparateRoles(), "workers\\.[^.]+"].join("|");
const valueOfGroup = new RegExp(
  `^(?:cluster\\.)?((?:${groups})(?:\\.nodes\\.\\d+)?)\\.(?:[a-z]+Volume\\.|address$)`,
);

/**
 * Returns the frozen values for kubeadm/scripts/immutable-values.sh, as lines `path value`. Sorts
 * the lines, so that a reordered schema runs no script again. Leaves out values that may change or
 * disappear in an existing cluster, and values that machines do not check.
 */
export const renderFrozenValues = (values: FrozenValuesByPath): string =>
  Object.entries(values)
    .filter(
      ([path]) =>
        findMachineGroupPath(path) === undefined && !ofOperator.has(path) && path !== loginPath,
    )
    .filter(
      ([path]) =>
        !isGeneration(path) && !isReplaceableFloatingIpPath(path) && !isOnlyRecorded(path),
    )
    .map(([path, value]) => `${path} ${value}`)
    .sort()
    .join("\n");

/** Returns whether the value is recorded only, or other code checks its change. */
const isOnlyRecorded = (path: string): boolean =>
  path === versionFieldPath || path === loadBalancerProviderPath;

/** Returns whether a frozen value may change after all, or other code checks its change. */
const mayChange = (path: string): boolean =>
  isGeneration(path) || isVolume(path) || isOnlyRecorded(path);

/** Returns " again", except for a value that the user may never have written. */
const againOf = (path: string): string => (path === kubeProxyModePath ? "" : " again");

/**
 * Returns an error for each frozen value that differs between the existing cluster (`before`) and
 * this run (`now`). A path that only `before` or only `now` contains causes no error, because
 * releases differ in the values that they freeze. There are two exceptions. A missing path of
 * `assumedFrozenValues` has its assumed value. A setting in `gainableSettings` must not disappear.
 */
export function findFrozenValueChanges(
  before: FrozenValuesByPath,
  now: FrozenValuesByPath,
): { readonly path: string; readonly message: string }[] {
  const was = new Map(Object.entries({ ...assumedFrozenValues, ...before }));
  const lost = Object.entries(gainableSettings).filter(([path]) => was.has(path));
  const is = { ...assumedFrozenValues, ...Object.fromEntries(lost), ...now };
  // The default of the mode follows the pod network, whose change has its own error.
  const followsPodNetwork = (path: string): boolean =>
    path === kubeProxyModePath && was.get("podNetwork") !== now["podNetwork"];
  return Object.entries(is).flatMap(([path, value]) => {
    const kept = mayChange(path) || followsPodNetwork(path) ? value : (was.get(path) ?? value);
    const again = kept === nothing ? "leave it out again" : `write ${kept}${againOf(path)}`;
    const message =
      sentences[path] ??
      `${kept} cannot become ${value} while the cluster exists; ${again}, or destroy the cluster and create it again`;
    return kept === value ? [] : [{ path: `cluster.${path}`, message }];
  });
}

/**
 * Returns an error for each volume or address of a machine group that only `before` or only `now`
 * contains, because existing machines cannot gain or lose a volume or an address. A newer release
 * that freezes more paths causes no error, because a cluster stores only the values that the user
 * writes for a group.
 */
export const findOneSidedGroupValues = (
  before: FrozenValuesByPath,
  now: FrozenValuesByPath,
): { readonly path: string; readonly message: string }[] => {
  const oneSided = (some: FrozenValuesByPath, others: FrozenValuesByPath): string[] =>
    Object.keys(some).filter(
      (path) => findMachineGroupPath(path) !== undefined && !(path in others),
    );
  const otherwise = (path: string): string =>
    path.startsWith("workers.")
      ? ", or make another pool, move the pods there and remove this one"
      : "; existing machines do not change";
  // The recorded text of a volume is not for users.
  const shown = (path: string, value = ""): string =>
    isVolume(path) ? "a separate volume" : value;
  return [
    ...oneSided(before, now).map((path) => ({
      path: `cluster.${path}`,
      message: `${shown(path, before[path])} cannot be removed from existing machines; write it again${otherwise(path)}`,
    })),
    ...oneSided(now, before).map((path) => ({
      path: `cluster.${path}`,
      message: `${shown(path, now[path])} cannot be added to existing machines; leave it out${otherwise(path)}`,
    })),
  ];
};
