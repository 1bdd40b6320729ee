import type { PendingOperation, StateExport, StateResource } from "./stack-state.js";

/*
 * Removes resources from an exported state when their objects are deleted without the engine.
 * Performs no input or output.
 */

/** Map of removed resources: URN to the URN of the parent. */
type Gone = ReadonlyMap<string, string | undefined>;

/** Returns the nearest remaining ancestor: `parent` itself, or an ancestor of it. */
function ancestorFrom(parent: string | undefined, gone: Gone): string | undefined {
  let nearest = parent;
  while (nearest !== undefined && gone.has(nearest)) nearest = gone.get(nearest);
  return nearest;
}

/**
 * Returns the resource without references to removed resources. The engine would refuse a state
 * with references to missing resources.
 */
function withoutReferences(resource: StateResource, gone: Gone): StateResource {
  const rest = (urns: readonly string[]): string[] => urns.filter((urn) => !gone.has(urn));
  const { parent: former, dependencies, propertyDependencies, ...more } = resource;
  const { deletedWith, replaceWith, ...others } = more;
  const parent = ancestorFrom(former, gone);
  const byProperty = Object.entries(propertyDependencies ?? {});
  return {
    ...others,
    ...(parent !== undefined && { parent }),
    ...(dependencies && { dependencies: rest(dependencies) }),
    ...(replaceWith && { replaceWith: rest(replaceWith) }),
    ...(deletedWith !== undefined && !gone.has(deletedWith) && { deletedWith }),
    ...(propertyDependencies && {
      propertyDependencies: Object.fromEntries(
        byProperty.map(([property, urns]) => [property, rest(urns ?? [])]),
      ),
    }),
  };
}

/**
 * Returns the state without the selected resources, and the number of removed URNs. During a
 * replacement, the state contains two resources with the same URN. If one of the two remains,
 * references to the URN remain, too.
 */
export function omitResources(
  state: StateExport,
  isMeant: (resource: StateResource) => boolean,
): {
  readonly state: StateExport;
  readonly forgotten: number;
} {
  const { resources, pending_operations: pending } = state.deployment;
  const all = resources ?? [];
  const rest = all.filter((one) => !isMeant(one));
  const left = new Set(rest.map(({ urn }) => urn));
  const gone = new Map(
    all.flatMap(({ urn, parent }) => (left.has(urn) ? [] : [[urn, parent] as const])),
  );
  const stays = ({ resource }: PendingOperation): boolean => !isMeant(resource);
  return {
    forgotten: gone.size,
    state: {
      ...state,
      deployment: {
        ...state.deployment,
        resources: rest.map((one) => withoutReferences(one, gone)),
        pending_operations: (pending ?? []).filter(stays),
      },
    },
  };
}
