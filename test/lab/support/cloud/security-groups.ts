import { z } from "zod";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { listAll } from "../../../../openstack/client/paginate.js";

const groupSchema = z.object({ id: z.string(), name: z.string() });
const ruleSchema = z.object({
  direction: z.string(),
  ethertype: z.string(),
  protocol: z.string().nullable(),
  port_range_min: z.number().nullable(),
  port_range_max: z.number().nullable(),
  remote_group_id: z.string().nullable(),
  remote_ip_prefix: z.string().nullable(),
});

/**
 * Returns the IPv4 traffic that a security group allows, as sorted lines such as "tcp 6443 from
 * node". The names of groups do not contain the cluster's prefix.
 */
export async function openings(cloud: CloudClient, name: string): Promise<string[]> {
  const list = <T>(path: string, key: string, schema: z.ZodType<T>): Promise<T[]> =>
    listAll(cloud, "network", path, { key, schema });
  const groups = await list("/security-groups", "security_groups", groupSchema);
  const group = groups.find((one) => one.name === name);
  if (!group) throw new Error(`there is no security group ${name}`);
  const cluster = name.replace(/-(node|control-plane|etcd|worker|bastion)$/, "-");
  const path = `/security-group-rules?security_group_id=${group.id}`;
  const rules = await list(path, "security_group_rules", ruleSchema);
  const source = (rule: z.infer<typeof ruleSchema>): string => {
    const other = groups.find(({ id }) => id === rule.remote_group_id)?.name;
    return other?.replace(cluster, "") ?? rule.remote_ip_prefix ?? "everywhere";
  };
  const ports = ({ port_range_min: first, port_range_max: last }: z.infer<typeof ruleSchema>) =>
    first === null ? "" : ` ${first === last ? String(first) : `${String(first)}-${String(last)}`}`;
  return rules
    .filter(({ direction, ethertype }) => direction === "ingress" && ethertype === "IPv4")
    .map((rule) => `${rule.protocol ?? "everything"}${ports(rule)} from ${source(rule)}`)
    .sort();
}
