import type { PendingOperation, StateExport, StateResource } from "./state.js";

/*
 * A state without some of what it holds, as the engine takes it: what goes otherwise than by the engine is forgotten. Pure.
 */

/** URNs of what is gone, and the parent that each had. */
type Gone = ReadonlyMap<string, string | undefined>;

/** The nearest that stays, from a parent on. */
function ancestorFrom(parent: string | undefined, gone: Gone): string | undefined {
  let nearest = parent;
  while (nearest !== undefined && gone.has(nearest)) nearest = gone.get(nearest);
  return nearest;
}

/** The resource without references to what is gone: the engine refuses a state in which they lead nowhere. */
function detached(resource: StateResource, gone: Gone): StateResource {
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

/** The state without those, and how many they are. One that was replaced may have its successor's URN: then that stays. */
export function withoutThose(
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
        resources: rest.map((one) => detached(one, gone)),
        pending_operations: (pending ?? []).filter(stays),
      },
    },
  };
}
