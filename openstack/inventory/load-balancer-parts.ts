import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import {
  deletionTimeouts,
  wasAlreadyGone,
  retryWhileInUse,
  type DeleteOptions,
} from "./wait-until-unused.js";
import { addUtcZone } from "./inventory.js";
import { listAll } from "../client/paginate.js";

/**
 * Kinds of parts of a load balancer. The inventory does not list these parts, because Octavia
 * deletes them together with their load balancer.
 */
export type LoadBalancerPartKind = "listener" | "pool" | "health monitor" | "member";

/** Name and parent of a part of a load balancer. The ID of the part is unknown. */
export interface LoadBalancerPart {
  readonly kind: LoadBalancerPartKind;
  readonly name: string;
  /**
   * ID of the parent. The parent of a listener is a load balancer. The parent of a pool is a
   * listener. The parent of a member or health monitor is a pool.
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
  readonly path: (part: LoadBalancerPart) => string;
  readonly key: string;
  /**
   * Field of a part that lists the part's parents. Undefined if the path of the request contains
   * the parent.
   */
  readonly owners?: string;
}

const collections: Readonly<Record<LoadBalancerPartKind, Collection>> = {
  listener: { path: () => "/lbaas/listeners", key: "listeners", owners: "loadbalancers" },
  pool: { path: () => "/lbaas/pools", key: "pools", owners: "listeners" },
  "health monitor": { path: () => "/lbaas/healthmonitors", key: "healthmonitors", owners: "pools" },
  member: { path: ({ of }) => `/lbaas/pools/${of}/members`, key: "members" },
};

const ownersSchema = z.array(z.looseObject({ id: z.string() }));
const belongsTo = (part: Part, owners: string | undefined, owner: string): boolean =>
  owners === undefined || ownersSchema.parse(part[owners] ?? []).some(({ id }) => id === owner);

/**
 * Deletes the parts with this kind, name and parent for which `isMeant` returns true. Returns the
 * IDs of the deleted parts.
 */
export async function deleteLoadBalancerParts(
  client: CloudClient,
  part: LoadBalancerPart,
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
      isMeant({ id: one.id, created: addUtcZone(one.created_at ?? "") }),
  );
  for (const { id } of found)
    // Retries, because Octavia refuses all changes of a load balancer while one of its parts is
    // being created.
    await retryWhileInUse(
      () => wasAlreadyGone(client.request("load-balancer", "DELETE", `${collection}/${id}`)),
      { what: `${part.kind} '${part.name}' (${id})`, bound: deletionTimeouts.balancer },
      options,
    );
  return found.map(({ id }) => id);
}
