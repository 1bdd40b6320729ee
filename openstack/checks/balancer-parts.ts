import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { listAll } from "../client/paginate.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import type { BalancerPart } from "./cluster-requirements.js";
import type { LimitName, Quota } from "./quotas.js";

/*
 * Use of Octavia's quotas for parts of load balancers. Octavia reports only the limits, so the
 * parts are listed, and only if the cluster needs new ones.
 */

const references = z
  .array(z.looseObject({ id: z.string() }))
  .nullish()
  .transform((found) => found ?? []);
const partSchema = z.looseObject({
  id: z.string(),
  loadbalancers: references,
  pools: references,
  members: references,
});
type Part = z.output<typeof partSchema>;

const lists = {
  listeners: { path: "listeners", fields: ["id", "loadbalancers"] },
  pools: { path: "pools", fields: ["id", "loadbalancers", "members"] },
  healthmonitors: { path: "healthmonitors", fields: ["id", "pools"] },
} as const;

function listParts(client: CloudClient, key: keyof typeof lists): Promise<Part[]> {
  const { path, fields } = lists[key];
  const query = fields.map((field) => `fields=${field}`).join("&");
  const project = `project_id=${client.projectId}`;
  const wanted = { key, schema: partSchema };
  return listAll(client, "load-balancer", `/lbaas/${path}?${project}&${query}`, wanted);
}

/** Quotas of the parts of load balancers, and how many parts the cluster has. */
export interface BalancerParts {
  readonly quotas: Partial<Record<BalancerPart, Quota>>;
  readonly existing: Partial<Record<BalancerPart, number>>;
}

/**
 * Reads the use of the quotas in `limits`. Sends no request if all of these are unlimited. Returns
 * no quotas if the user cannot list the parts.
 *
 * @param balancers IDs of the cluster's load balancers
 */
export async function readBalancerParts(
  client: CloudClient,
  limits: Partial<Record<LimitName, number>>,
  balancers: ReadonlySet<string>,
): Promise<BalancerParts> {
  const limitOf = (part: BalancerPart): number => limits[part] ?? -1;
  const parts = ["listeners", "pools", "members", "health monitors"] as const;
  if (parts.every((part) => limitOf(part) < 0)) return { quotas: {}, existing: {} };
  try {
    const [listeners, pools, monitors] = await Promise.all([
      listParts(client, "listeners"),
      listParts(client, "pools"),
      listParts(client, "healthmonitors"),
    ]);
    const isOurs = ({ loadbalancers }: Part): boolean =>
      loadbalancers.some(({ id }) => balancers.has(id));
    const ourPools = pools.filter(isOurs);
    const ids = new Set(ourPools.map(({ id }) => id));
    const ourMonitors = monitors.filter((monitor) => monitor.pools.some(({ id }) => ids.has(id)));
    const countMembers = (all: readonly Part[]): number =>
      all.reduce((sum, { members }) => sum + members.length, 0);
    const quotaOf = (part: BalancerPart, used: number): Quota => ({ limit: limitOf(part), used });
    return {
      quotas: {
        listeners: quotaOf("listeners", listeners.length),
        pools: quotaOf("pools", pools.length),
        members: quotaOf("members", countMembers(pools)),
        "health monitors": quotaOf("health monitors", monitors.length),
      },
      existing: {
        listeners: listeners.filter(isOurs).length,
        pools: ourPools.length,
        members: countMembers(ourPools),
        "health monitors": ourMonitors.length,
      },
    };
  } catch (error) {
    if (!isHiddenFromUser(error)) throw error;
    return { quotas: {}, existing: {} };
  }
}
