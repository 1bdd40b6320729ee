import { listClusterRanges } from "../../base/ip-addresses.js";
import { getSshEntryRole, planCluster, listPossiblePlanRoles } from "../plan/cluster-plan.js";
import { getRoleTable, type MachineRole } from "../config/roles.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { getEndpointTraits } from "../config/load-balancing/endpoint-traits.js";
import { buildFirewallRules, type FirewallPlan, type FirewallRule } from "./firewall-rules.js";

/** Returns the roles whose machines accept SSH from clients outside the cluster. */
function reachedRoles(
  { access }: ClusterSpec,
  entry: MachineRole,
  all: readonly MachineRole[],
): readonly MachineRole[] {
  if (access === "admin") return [];
  return access === "direct" ? all : [entry];
}

/** Returns the inputs for the firewall rules of a specification. */
function firewallPlan(spec: ClusterSpec): FirewallPlan {
  const planned = planCluster(spec);
  const [entry, all] = [getSshEntryRole(planned), listPossiblePlanRoles(planned)];
  return {
    sshCidrs: spec.sshCidrs,
    nodes: spec.network.nodes,
    pods: listClusterRanges("pods", spec.network),
    podNetwork: spec.podNetwork,
    entry,
    reached: reachedRoles(spec, entry, all),
    separate: planned.separate.map(({ role }) => role),
    etcdOn: all.filter((role) => getRoleTable(spec)[role].runsEtcd),
    // `cloudController.enabled` does not matter here. Without the program's cloud controller, the
    // user may run another cloud controller, which creates load balancers.
    balanced: spec.loadBalancer.enabled !== false || spec.ingress?.kind === "workers",
    loadBalancerProvider: spec.loadBalancer.provider,
    serviceCidrs: spec.serviceCidrs,
    nodePorts: spec.network.nodePorts,
    adminCidrs: spec.network.admin?.allowedCidrs ?? [],
    more: getEndpointTraits(spec).firewall,
  };
}

/**
 * Returns the firewall rules of a specification. Without port security, only second interfaces have
 * rules.
 */
export const getFirewallRules = (spec: ClusterSpec): readonly FirewallRule[] =>
  buildFirewallRules(firewallPlan(spec)).filter(
    ({ group }) => spec.network.portSecurity || group === "admin",
  );
