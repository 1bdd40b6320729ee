import { z } from "zod";

/* Finds in an exported state what an earlier run did not finish. */

const resource = z.looseObject({
  urn: z.string(),
  type: z.string(),
  /** Errors in the creation of a resource that exists but is incomplete. */
  initErrors: z.array(z.string()).nullish(),
});
const exported = z.looseObject({
  deployment: z
    .looseObject({
      resources: z.array(resource).nullish(),
      pending_operations: z.array(z.looseObject({ type: z.string(), resource })).nullish(),
    })
    .nullish(),
});

/**
 * Returns the URNs of the resources that OpenStack's provider created but could not read. Such a
 * resource has an error in the state (`initErrors`), so the next run would update the resource. The
 * provider cannot update many kinds of resources, so every run would fail. Leaves out servers,
 * because the engine recreates a server with such an error (machine.ts).
 */
export const findPartialCreates = (
  resources: readonly {
    readonly urn: string;
    readonly type: string;
    readonly initErrors?: readonly string[] | null | undefined;
  }[],
): string[] =>
  resources.flatMap(({ urn, type, initErrors }) =>
    type.startsWith("openstack:") &&
    type !== "openstack:compute/instance:Instance" &&
    (initErrors ?? []).length > 0
      ? [urn]
      : [],
  );

/** URNs of resources whose creation an earlier run did not finish. */
export interface UnfinishedCreates {
  /**
   * Objects in the cloud that may exist without a record, because the engine was killed. The next
   * run would create each object a second time.
   */
  readonly pending: readonly string[];
  /** Resources of {@link findPartialCreates}. */
  readonly partial: readonly string[];
}

/** Returns the unfinished creates in the output of `pulumi stack export`. */
export function findUnfinishedCreates(state: unknown): UnfinishedCreates {
  const { deployment } = exported.parse(state);
  const pending = (deployment?.pending_operations ?? []).flatMap(
    ({ type, resource: { urn, ...of } }) =>
      type === "creating" && of.type.startsWith("openstack:") ? [urn] : [],
  );
  return { pending, partial: findPartialCreates(deployment?.resources ?? []) };
}
