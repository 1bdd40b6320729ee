import { findResourcePhase } from "../../../../automation/pulumi/phases.js";
import type { Row } from "../../../../test/support/graph/graph.js";
import { clusterName } from "./registered-cluster.js";

/** Who creates the resources of a group: OpenStack, scripts over SSH, Kubernetes, or the engine. */
export type Maker = "openstack" | "script" | "kubernetes" | "local";

/** Resources of a component that belong to the same phase of an `up`. */
export interface ResourceGroup {
  readonly key: string;
  readonly component: string;
  readonly phase: string;
  readonly maker: Maker;
  /** Names of the resources. */
  readonly shows: readonly string[];
  /** Kinds of the resources, with their numbers. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Keys of the groups on which the group depends directly. */
  readonly after: readonly string[];
}

const makers: readonly (readonly [prefix: string, maker: Maker])[] = [
  ["openstack:", "openstack"],
  ["command:remote:", "script"],
  ["kubernetes:", "kubernetes"],
  ["pulumi:providers:kubernetes", "kubernetes"],
  ["", "local"],
];

const makerOf = ({ type }: Row): Maker =>
  makers.find(([prefix]) => type.startsWith(prefix))?.[1] ?? "local";

/**
 * Returns the kind of a resource: the last word of a command's name, such as `prepare`, else the
 * last part of the type.
 */
const kindOf = ({ type, name }: Row): string => {
  if (type.startsWith("pulumi:providers:")) return "Provider";
  return (type.startsWith("command:") ? name.split("-") : type.split(":")).at(-1) ?? "";
};

/** Component whose parts are separate groups. */
const divided = "addons";

/**
 * Returns the component of a resource: the child of the cluster that contains the resource. Each
 * add-on is a separate component.
 */
function componentOf(row: Row, byUrn: ReadonlyMap<string, Row>): string {
  const names: string[] = [];
  for (
    let parent = byUrn.get(row.parent);
    parent && parent.name !== clusterName && !parent.type.startsWith("pulumi:");
    parent = byUrn.get(parent.parent)
  )
    names.unshift(parent.name.slice(clusterName.length + 1));
  const [first = "cluster", second] = names;
  return first === divided ? (second ?? first) : first;
}

/**
 * Returns the phase of a resource. A server group belongs to its servers. A Kubernetes provider has
 * no phase.
 */
const phaseOf = ({ type, urn }: Row): string =>
  type.startsWith("openstack:compute/") ? "servers" : (findResourcePhase(urn) ?? "provider");

/** Returns the URNs on which a resource depends, with its provider. */
const urnsBefore = ({ dependencies, provider }: Row): readonly string[] => [
  ...dependencies,
  ...(provider === "" ? [] : [provider.slice(0, provider.lastIndexOf("::"))]),
];

/** Removes each direct dependency that also exists through another group. */
function withoutDetours(after: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const reached = (key: string, seen: Set<string> = new Set()): Set<string> => {
    for (const one of after.get(key) ?? [])
      if (!seen.has(one)) {
        seen.add(one);
        reached(one, seen);
      }
    return seen;
  };
  return new Map(
    [...after].map(([key, direct]) => {
      if (reached(key).has(key)) throw new Error(`the group ${key} depends on itself`);
      const others = (one: string): string[] => [...direct].filter((other) => other !== one);
      return [
        key,
        [...direct].filter((one) => !others(one).some((other) => reached(other).has(one))),
      ];
    }),
  );
}

/** Groups the registered resources by component and phase. */
export function groupResources(rows: readonly Row[]): readonly ResourceGroup[] {
  const byUrn = new Map(rows.map((row) => [row.urn, row]));
  const resources = rows.filter(({ custom }) => custom);
  const keyOf = new Map(
    resources.map((row) => {
      return [row.urn, `${componentOf(row, byUrn)}: ${phaseOf(row)}`];
    }),
  );
  const members = new Map<string, Row[]>();
  for (const row of resources) {
    const key = keyOf.get(row.urn) ?? "";
    members.set(key, [...(members.get(key) ?? []), row]);
  }
  const after = withoutDetours(
    new Map(
      [...members].map(([key, own]) => {
        const keys = own.flatMap(urnsBefore).flatMap((urn) => keyOf.get(urn) ?? []);
        return [key, new Set(keys.filter((one) => one !== key))];
      }),
    ),
  );
  return [...members].map(([key, own]) => {
    const kinds = new Map<string, number>();
    for (const row of own) kinds.set(kindOf(row), (kinds.get(kindOf(row)) ?? 0) + 1);
    const [first] = own;
    if (!first) throw new Error(`the group ${key} is empty`);
    const [component = "", phase = ""] = key.split(": ");
    return {
      key,
      kinds,
      component,
      phase,
      maker: makerOf(first),
      shows: own.map(({ name }) => name),
      after: after.get(key) ?? [],
    };
  });
}
