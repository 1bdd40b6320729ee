import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import type { BalancerPart, CountedResource } from "./cluster-requirements.js";

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

/** Limit that a service reports without the used amount. -1 means unlimited. */
export type LimitName = BalancerPart | "servers in a server group";

/** Quotas and limits of one service. */
interface ServiceQuotas {
  readonly quotas: Partial<Record<QuotaName, Quota>>;
  readonly limits?: Partial<Record<LimitName, number>>;
}

async function computeQuotas(client: CloudClient): Promise<ServiceQuotas> {
  const { limits } = absolute.parse(await client.request("compute", "GET", "/limits"));
  const values = limits.absolute;
  const members = values["maxServerGroupMembers"];
  return {
    quotas: {
      instances: pick(values, "maxTotalInstances", "totalInstancesUsed"),
      cores: pick(values, "maxTotalCores", "totalCoresUsed"),
      "MiB of RAM": pick(values, "maxTotalRAMSize", "totalRAMUsed"),
      "server groups": pick(values, "maxServerGroups", "totalServerGroupsUsed"),
    },
    ...(typeof members === "number" && { limits: { "servers in a server group": members } }),
  };
}

async function volumeQuotas(client: CloudClient): Promise<ServiceQuotas> {
  if (!client.offers("volumev3")) return { quotas: {} };
  const { limits } = absolute.parse(await client.request("volumev3", "GET", "/limits"));
  return {
    quotas: {
      volumes: pick(limits.absolute, "maxTotalVolumes", "totalVolumesUsed"),
      "volume gigabytes": pick(limits.absolute, "maxTotalVolumeGigabytes", "totalGigabytesUsed"),
    },
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

async function networkQuotas(client: CloudClient): Promise<ServiceQuotas> {
  const path = `/quotas/${client.projectId}/details`;
  const { quota } = detail.parse(await client.request("network", "GET", path));
  return {
    quotas: Object.fromEntries(
      Object.entries(networkNames).flatMap(([key, name]) => {
        const found = quota[key];
        return found ? [[name, found]] : [];
      }),
    ),
  };
}

const balancerQuota = z.object({ quota: z.record(z.string(), z.unknown()) });

/** Names of Octavia's quotas, the current name before the deprecated name. */
const partKeys: Readonly<Record<BalancerPart, readonly string[]>> = {
  listeners: ["listener"],
  pools: ["pool"],
  members: ["member"],
  "health monitors": ["healthmonitor", "health_monitor"],
};

async function loadBalancerQuotas(client: CloudClient): Promise<ServiceQuotas> {
  if (!client.offers("load-balancer")) return { quotas: {} };
  const { quota } = balancerQuota.parse(
    await client.request("load-balancer", "GET", `/lbaas/quotas/${client.projectId}`),
  );
  const { loadbalancers } = z
    .object({ loadbalancers: z.array(z.unknown()) })
    .parse(
      await client.request(
        "load-balancer",
        "GET",
        `/lbaas/loadbalancers?project_id=${client.projectId}&fields=id`,
      ),
    );
  const limitOf = (keys: readonly string[]): number | undefined =>
    keys.map((key) => quota[key]).find((value) => typeof value === "number");
  const limit = limitOf(["loadbalancer", "load_balancer"]);
  const parts = Object.entries(partKeys).flatMap(([name, keys]) => {
    const most = limitOf(keys);
    return most === undefined ? [] : [[name, most]];
  });
  return {
    quotas: limit === undefined ? {} : { "load balancers": { limit, used: loadbalancers.length } },
    limits: Object.fromEntries(parts) as Partial<Record<BalancerPart, number>>,
  };
}

export interface QuotaReport {
  readonly quotas: Partial<Record<QuotaName, Quota>>;
  readonly limits: Partial<Record<LimitName, number>>;
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
  const limits: Partial<Record<LimitName, number>> = {};
  const unreadable: string[] = [];
  await Promise.all(
    Object.entries(readers).map(async ([service, read]) => {
      try {
        const found: ServiceQuotas = await read(client);
        Object.assign(quotas, found.quotas);
        Object.assign(limits, found.limits);
      } catch (error) {
        if (!isHiddenFromUser(error)) throw error;
        unreadable.push(service);
      }
    }),
  );
  return { quotas, limits, unreadable };
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

/**
 * Returns a sentence for each quota that is too small for the objects to create. Keys are names of
 * quotas in messages.
 */
export function findQuotaProblems(
  quotas: Readonly<Record<string, Quota | undefined>>,
  wanted: Readonly<Record<string, number | undefined>>,
): string[] {
  return Object.entries(wanted).flatMap(([name, more = 0]) => {
    const quota = quotas[name];
    if (!quota || quota.limit < 0 || more <= 0 || quota.used + more <= quota.limit) return [];
    const free = Math.max(0, quota.limit - quota.used);
    return [
      `quota of ${name}: need ${more} more, but ${free} of ${quota.limit} are free; ask for a larger quota or delete unused objects`,
    ];
  });
}
