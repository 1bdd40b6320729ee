import type { PendingOperation, StateExport, StateResource } from "./state.js";

/*
 * A state without some of what it holds, as the engine takes it: what goes otherwise than by the engine is forgotten. Pure.
 */

/** The resource without references to what is gone: the engine refuses a state in which they lead nowhere. */
function detached(resource: StateResource, gone: ReadonlySet<string>): StateResource {
  const rest = (urns: readonly string[]): string[] => urns.filter((urn) => !gone.has(urn));
  const { dependencies, propertyDependencies, deletedWith, replaceWith, ...others } = resource;
  const byProperty = Object.entries(propertyDependencies ?? {});
  return {
    ...others,
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
  const gone = new Set(all.map(({ urn }) => urn).filter((urn) => !left.has(urn)));
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
