import { z } from "zod";
import type { CloudClient } from "./client.js";
import { bounds, gone, whileInUse, type DeleteOptions } from "./in-use.js";
import { inUtc } from "./inventory.js";
import { listAll } from "./listing.js";

/**
 * Kinds of parts of a load balancer. The inventory does not list them, because they are deleted
 * with their load balancer.
 */
export type PartKind = "listener" | "pool" | "health monitor" | "member";

/** Part of a load balancer, described without its ID. */
export interface BalancerPart {
  readonly kind: PartKind;
  readonly name: string;
  /**
   * ID of the parent: a listener's load balancer, a pool's listener, or the pool of members and
   * monitors.
   */
  readonly of: string;
}

const partSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  created_at: z.string().nullish(),
});
type Part = z.output<typeof partSchema>;

interface Collection {
  readonly path: (part: BalancerPart) => string;
  readonly key: string;
  /** Field that lists the parents of a part; undefined if the path contains the parent. */
  readonly owners?: string;
}

const collections: Readonly<Record<PartKind, Collection>> = {
  listener: { path: () => "/lbaas/listeners", key: "listeners", owners: "loadbalancers" },
  pool: { path: () => "/lbaas/pools", key: "pools", owners: "listeners" },
  "health monitor": { path: () => "/lbaas/healthmonitors", key: "healthmonitors", owners: "pools" },
  member: { path: ({ of }) => `/lbaas/pools/${of}/members`, key: "members" },
};

const ownersSchema = z.array(z.looseObject({ id: z.string() }));
const belongsTo = (part: Part, owners: string | undefined, owner: string): boolean =>
  owners === undefined || ownersSchema.parse(part[owners] ?? []).some(({ id }) => id === owner);

/** Deletes the parts with this name and parent for which `isMeant` holds. Returns their IDs. */
export async function deleteParts(
  client: CloudClient,
  part: BalancerPart,
  isMeant: (found: { readonly id: string; readonly created: string }) => boolean,
  options: DeleteOptions = {},
): Promise<string[]> {
  const { path, key, owners } = collections[part.kind];
  const collection = path(part);
  const named = `${collection}?name=${encodeURIComponent(part.name)}`;
  const all = await listAll(client, "load-balancer", named, { key, schema: partSchema });
  const found = all.filter(
    (one) =>
      one.name === part.name &&
      belongsTo(one, owners, part.of) &&
      isMeant({ id: one.id, created: inUtc(one.created_at ?? "") }),
  );
  for (const { id } of found)
    // While a part is being created, its load balancer refuses every other change.
    await whileInUse(
      () => gone(client.request("load-balancer", "DELETE", `${collection}/${id}`)),
      { what: `${part.kind} '${part.name}' (${id})`, bound: bounds.balancer },
      options,
    );
  return found.map(({ id }) => id);
}
