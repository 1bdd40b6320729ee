import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { listPlannedGroups, planCluster, type ClusterPlan } from "../plan/cluster-plan.js";
import {
  getGenerationsToRecord,
  findReplacementProblems,
  type ExistingGenerations,
} from "../plan/replacements.js";
import {
  findUpgradeProblems,
  type ClusterBeforeUpgrade as Upgraded,
  type VersionBeforeUpgrade,
} from "../plan/upgrades.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  caCertificateFrozenPath,
  clientCertificateFrozenPath,
  findFrozenValueChanges,
  findOneSidedGroupValues,
  renderFrozenValues,
  collectFrozenValues,
  findMachineGroupPath,
  hasChangedGeneration,
  versionFieldPath,
  type FrozenValuesByPath,
} from "../config/immutable-fields.js";
import type { CloudObjects } from "../lookup/cloud-objects.js";
import { clusterType } from "../pulumi/cluster-type.js";
import { createConfigError, type ArgumentProblem } from "../pulumi/errors.js";
import { resolveEach } from "../pulumi/placeholders.js";
import type { LocalContext } from "../lookup/local-context.js";
import {
  parseResourceName,
  readStateBeforeRun,
  type RecordedResource,
} from "../pulumi/recorded-resources.js";
import { GuardedValues, type GuardedValuesArgs } from "../remote-scripts/remote-script.js";
import { generationMetadataKey } from "../../openstack/inventory/ownership.js";

export interface FrozenValuesArgs {
  readonly cluster: string;
  /** Frozen values, by their path in the specification. */
  readonly values: Readonly<Record<string, pulumi.Input<string>>>;
  /** Groups of machines, as {@link getNamesByPath} returns them. */
  readonly groups: Readonly<Record<string, string>>;
  /**
   * Returns the problems of changed generations. `existing` contains the generations in the state.
   */
  readonly replacements: (existing: ExistingGenerations) => readonly ArgumentProblem[];
  /** Returns the problems of a new Kubernetes version, and of other changes together with it. */
  readonly upgrades: (before: Upgraded) => readonly ArgumentProblem[];
}

/** Name of the {@link FrozenValues} resource of a cluster. */
export const frozenValuesName = "frozen";

/**
 * Frozen values of a cluster, stored in plain text in the state. While the cluster exists, every
 * preview or update refuses a change of these values, in stackadm and in plain Pulumi. This
 * resource must be created before all other resources. Otherwise, an update could change other
 * resources before the refusal.
 */
export class FrozenValues extends GuardedValues {
  /**
   * Frozen values as lines for the machines. A script on each machine compares them again
   * (kubeadm/scripts/immutable-values.sh).
   */
  readonly lines: pulumi.Output<string>;

  constructor(
    name: string,
    { cluster, values, groups, replacements, upgrades }: FrozenValuesArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const check: GuardedValuesArgs["check"] = async ({ urn, before, now }) => {
      const found = [
        ...findFrozenValueChanges(before, now),
        ...findOneSidedGroupValues(before, now),
      ];
      const replaces = hasChangedGeneration(before, now);
      const written = before[versionFieldPath];
      if (found.length === 0 && !replaces && written === now[versionFieldPath]) return;
      const state = await stateOf(urn);
      const kept = found.filter(({ path }) => {
        const group = findMachineGroupPath(path);
        if (group === undefined) return state?.lived ?? true;
        const component = groups[group];
        return component !== undefined && (state?.has(component) ?? true);
      });
      const { begun = true, reached, servers: existing = new Map<string, string>() } = state ?? {};
      const problems = [
        ...kept,
        ...(state && replaces ? replacements(existing) : []),
        ...(begun && versionFieldPath in now ? upgrades({ written, reached, existing }) : []),
      ];
      if (problems.length > 0)
        throw createConfigError(`The specification of the existing cluster ${cluster}`, problems);
    };
    super(name, { values, check }, opts);
    this.lines = pulumi.output(values).apply(renderFrozenValues);
  }
}

/**
 * Returns the names of machine groups and of single machines, by their path in the specification. A
 * group has the name of its component, and a machine has the name of its server. The names are
 * Pulumi names without the cluster's name.
 */
export const getNamesByPath = (plan: ClusterPlan): Readonly<Record<string, string>> =>
  Object.fromEntries(
    listPlannedGroups(plan).flatMap(({ path, component, machines }): [string, string][] => [
      [path, component],
      ...machines
        .map(({ position }) => String(position))
        .map((one): [string, string] => [`${path}.nodes.${one}`, `${component}-${one}-server`]),
    ]),
  );

/** Values of a cluster that the specification does not contain. */
export interface FrozenValuesSource {
  readonly operator?: LocalContext | undefined;
  /**
   * Whether the caller wrote the Kubernetes version. If not, this release's default is refused in a
   * cluster that has another version. @default true
   */
  readonly versionWritten?: boolean;
}

/** Returns the frozen values of a specification. A network is frozen by its ID. */
export function getFrozenValues(
  spec: ClusterSpec,
  objects: CloudObjects,
  { operator, versionWritten = true }: FrozenValuesSource = {},
): FrozenValuesArgs {
  const plan = planCluster(spec);
  return {
    cluster: spec.name,
    values: {
      ...resolveEach(collectFrozenValues(spec)),
      ...getGenerationsToRecord(plan),
      ...frozenIds(spec, objects),
      // The certificates themselves are not frozen, because they may be renewed.
      ...(operator?.caCertificate !== undefined && { [caCertificateFrozenPath]: "own" }),
      ...(operator?.clientCertificate && { [clientCertificateFrozenPath]: "own" }),
    },
    groups: getNamesByPath(plan),
    replacements: (existing) => findReplacementProblems(spec, existing),
    upgrades: (before) => findUpgradeProblems(spec, { ...before, versionWritten }),
  };
}

/**
 * Returns the IDs of the networks in the specification. If the user replaces a network's ID in the
 * specification by the network's name, the ID here does not change.
 */
function frozenIds(
  { externalNetwork, network: { existing, admin }, loadBalancer }: ClusterSpec,
  objects: CloudObjects,
): Record<string, pulumi.Output<string>> {
  const idOf = (part: "networkId" | "subnetId" | "routerId"): pulumi.Output<string> =>
    objects.network.apply((found) => found[part] ?? "");
  return {
    ...(externalNetwork !== undefined && { externalNetwork: objects.externalNetwork.id }),
    ...(existing && {
      "network.existing.network": idOf("networkId"),
      "network.existing.subnet": idOf("subnetId"),
    }),
    ...(admin && {
      "network.admin.network": objects.adminNetwork.networkId,
      "network.admin.subnet": objects.adminNetwork.subnetId,
    }),
    ...(existing?.router !== undefined && { "network.existing.router": idOf("routerId") }),
    ...(loadBalancer.network && {
      "loadBalancer.network.externalNetwork": objects.servicesExternalNetwork.id,
    }),
  };
}

/** Contents of a cluster's state before the run. */
interface Before {
  /**
   * Whether the Kubernetes API has ever answered. If so, the state contains a Kubernetes provider.
   * If the API has never answered, the first `up` failed, and a corrected value destroys nothing.
   */
  readonly lived: boolean;
  /**
   * Whether the Kubernetes API has answered, or kubeadm has finished on a machine. After that,
   * another version is an upgrade. An upgrade changes one machine at a time and needs a cluster
   * that works.
   */
  readonly begun: boolean;
  /** Returns whether a machine group has servers, or a server has this name. */
  readonly has: (component: string) => boolean;
  readonly servers: ExistingGenerations;
  /** Kubernetes version of the last run in which the complete cluster became ready. */
  readonly reached: string | undefined;
}

/** Returns the versions in the cluster's state before this run. */
export async function readVersionBeforeUpgrade(cluster: string): Promise<VersionBeforeUpgrade> {
  const state = (await readStateBeforeRun()) ?? [];
  const written = recordedIn(state, cluster)?.[versionFieldPath];
  const containerd = clusterOutputIn(state, cluster, "containerdChecksum");
  return { written, reached: reachedIn(state, cluster), containerd };
}

/**
 * Returns the frozen values in the cluster's state before this run. Undefined: the state contains no
 * such cluster, or cannot be read.
 */
export async function readRecordedValues(cluster: string): Promise<FrozenValuesByPath | undefined> {
  return recordedIn((await readStateBeforeRun()) ?? [], cluster);
}

const keptOutputs = z.looseObject({ environment: z.record(z.string(), z.string()) });

/** Returns the frozen values of a cluster in these resources of a state. */
export function recordedIn(
  state: readonly Pick<RecordedResource, "name" | "outputs">[],
  cluster: string,
): FrozenValuesByPath | undefined {
  const found = state.find(({ name }) => name === `${cluster}-${frozenValuesName}`);
  return keptOutputs.safeParse(found?.outputs).data?.environment;
}

const reachedIn = (state: readonly RecordedResource[], cluster: string): string | undefined =>
  clusterOutputIn(state, cluster, "kubernetesVersion");

function clusterOutputIn(
  state: readonly RecordedResource[],
  cluster: string,
  output: "kubernetesVersion" | "containerdChecksum",
): string | undefined {
  const found = state.find(({ name, type }) => type === clusterType && name === cluster);
  const value = found?.outputs[output];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Returns whether the resource is a Kubernetes object or a Kubernetes provider. Such a resource
 * exists only in a cluster whose API has answered.
 */
export const isKubernetesResource = ({ type }: Pick<RecordedResource, "type">): boolean =>
  /^(pulumi:providers:kubernetes$|kubernetes:)/.test(type);

const instance = "openstack:compute/instance:Instance";
const script = "command:remote:Command";

const marks = z.looseObject({ [generationMetadataKey]: z.string().default("0") });
const serverOutputs = z.looseObject({ name: z.string(), metadata: marks.default(marks.parse({})) });

/**
 * Returns the generation of each server in the state. A server without a generation in its metadata
 * counts as generation 0.
 */
const serversIn = (state: readonly RecordedResource[]): ExistingGenerations =>
  new Map(
    state
      .filter(({ type }) => type === instance)
      .flatMap(({ outputs }): [string, string][] => {
        const { success, data } = serverOutputs.safeParse(outputs);
        return success ? [[data.name, data.metadata[generationMetadataKey]]] : [];
      }),
  );

/** Returns the contents of the cluster's state. Returns undefined if the state cannot be read. */
async function stateOf(urn: string): Promise<Before | undefined> {
  const prefix = parseResourceName(urn).replace(/[^-]*$/, "");
  const state = await readStateBeforeRun();
  const mine = state?.filter(({ name }) => name.startsWith(prefix));
  return (
    mine && {
      lived: mine.some(isKubernetesResource),
      begun: mine.some(
        (one) =>
          isKubernetesResource(one) || (one.type === script && /-(init|join)$/.test(one.name)),
      ),
      has: (component) =>
        mine.some(
          ({ name, type }) =>
            type === instance &&
            [name, name.replace(/-\d+-server$/, "")].includes(`${prefix}${component}`),
        ),
      servers: serversIn(mine),
      reached: reachedIn(state ?? [], prefix.slice(0, -1)),
    }
  );
}
