import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import type { CountedResource } from "./cluster-requirements.js";

export type QuotaName = CountedResource | "instances" | "cores" | "MiB of RAM";

/** Limit of a quota, and the used amount. The limit -1 means unlimited. */
export interface Quota {
  readonly limit: number;
  readonly used: number;
}

const absolute = z.object({ limits: z.object({ absolute: z.record(z.string(), z.unknown()) }) });

function pick(values: Record<string, unknown>, limit: string, used: string): Quota | undefined {
  const [top, now] = [values[limit], values[used]];
  return typeof top === "number" && typeof now === "number" ? { limit: top, used: now } : undefined;
}

async function computeQuotas(client: CloudClient): Promise<Partial<Record<QuotaName, Quota>>> {
  const { limits } = absolute.parse(await client.request("compute", "GET", "/limits"));
  const values = limits.absolute;
  return {
    instances: pick(values, "maxTotalInstances", "totalInstancesUsed"),
    cores: pick(values, "maxTotalCores", "totalCoresUsed"),
    "MiB of RAM": pick(values, "maxTotalRAMSize", "totalRAMUsed"),
    "server groups": pick(values, "maxServerGroups", "totalServerGroupsUsed"),
  };
}

async function volumeQuotas(client: CloudClient): Promise<Partial<Record<QuotaName, Quota>>> {
  if (!client.offers("volumev3")) return {};
  const { limits } = absolute.parse(await client.request("volumev3", "GET", "/limits"));
  return {
    volumes: pick(limits.absolute, "maxTotalVolumes", "totalVolumesUsed"),
    "volume gigabytes": pick(limits.absolute, "maxTotalVolumeGigabytes", "totalGigabytesUsed"),
  };
}

const networkNames = {
  network: "networks",
  subnet: "subnets",
  router: "routers",
  port: "ports",
  floatingip: "floating IPs",
  security_group: "security groups",
  security_group_rule: "security group rules",
} as const;
const detail = z.object({
  quota: z.record(z.string(), z.object({ limit: z.number(), used: z.number() })),
});

async function networkQuotas(client: CloudClient): Promise<Partial<Record<QuotaName, Quota>>> {
  const path = `/quotas/${client.projectId}/details`;
  const { quota } = detail.parse(await client.request("network", "GET", path));
  return Object.fromEntries(
    Object.entries(networkNames).flatMap(([key, name]) => {
      const found = quota[key];
      return found ? [[name, found]] : [];
    }),
  );
}

async function loadBalancerQuotas(client: CloudClient): Promise<Partial<Record<QuotaName, Quota>>> {
  if (!client.offers("load-balancer")) return {};
  const { quota } = z
    .object({ quota: z.looseObject({ load_balancer: z.number().nullish() }) })
    .parse(await client.request("load-balancer", "GET", `/lbaas/quotas/${client.projectId}`));
  const { loadbalancers } = z
    .object({ loadbalancers: z.array(z.unknown()) })
    .parse(
      await client.request(
        "load-balancer",
        "GET",
        `/lbaas/loadbalancers?project_id=${client.projectId}&fields=id`,
      ),
    );
  const limit = quota.load_balancer;
  return typeof limit === "number"
    ? { "load balancers": { limit, used: loadbalancers.length } }
    : {};
}

export interface QuotaReport {
  readonly quotas: Partial<Record<QuotaName, Quota>>;
  /** Services that do not allow the user to read a quota. */
  readonly unreadable: readonly string[];
}

/**
 * Reads limits and use of the quotas of all services. `unreadable` contains the services whose
 * quotas the user cannot read.
 */
export async function readQuotas(client: CloudClient): Promise<QuotaReport> {
  const readers = {
    compute: computeQuotas,
    volume: volumeQuotas,
    network: networkQuotas,
    "load balancer": loadBalancerQuotas,
  };
  const quotas: Partial<Record<QuotaName, Quota>> = {};
  const unreadable: string[] = [];
  await Promise.all(
    Object.entries(readers).map(async ([service, read]) => {
      try {
        Object.assign(quotas, await read(client));
      } catch (error) {
        if (!isHiddenFromUser(error)) throw error;
        unreadable.push(service);
      }
    }),
  );
  return { quotas, unreadable };
}

/** Quota, and the additional amount that the cluster needs. */
export interface QuotaRequirement extends Quota {
  readonly name: QuotaName;
  readonly needed: number;
}

/**
 * Returns the quotas in `wanted` whose limit and use are known. `needed` is 0 if the cluster needs
 * no additional amount.
 */
export const getQuotaRequirements = (
  quotas: Partial<Record<QuotaName, Quota>>,
  wanted: Partial<Record<QuotaName, number>>,
): QuotaRequirement[] =>
  Object.entries(wanted).flatMap(([key, needed]) => {
    const name = key as QuotaName;
    const quota = quotas[name];
    return quota ? [{ name, ...quota, needed: Math.max(0, needed) }] : [];
  });

/** Returns a sentence for each quota that is too small for the objects to create. */
export function findQuotaProblems(
  quotas: Partial<Record<QuotaName, Quota>>,
  wanted: Partial<Record<QuotaName, number>>,
): string[] {
  return Object.entries(wanted).flatMap(([name, more]) => {
    const quota = quotas[name as QuotaName];
    if (!quota || quota.limit < 0 || more <= 0 || quota.used + more <= quota.limit) return [];
    const free = Math.max(0, quota.limit - quota.used);
    return [
      `quota of ${name}: need ${more} more, but ${free} of ${quota.limit} are free; ask for a larger quota or delete unused objects`,
    ];
  });
}
