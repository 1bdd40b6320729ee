import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { Address4, Address6 } from "ip-address";
import {
  getClusterDescriptionOutput,
  getClusterTagsOutput,
  type ClusterMarkInput,
} from "../identity/resource-tags.js";
import { Component } from "../pulumi/component.js";
import { ProgramError } from "../pulumi/errors.js";
import { mapResolved, resolvePlaceholders } from "../pulumi/placeholders.js";
import {
  listSecurityGroupKeys,
  type PlannedSecurityGroup,
  type SecurityGroupKey,
} from "../plan/cluster-plan.js";
import type { MachineRole } from "../config/roles.js";
import type { FirewallRule } from "./firewall-rules.js";

export interface FirewallArgs {
  readonly mark: ClusterMarkInput;
  readonly groups: readonly PlannedSecurityGroup[];
  readonly rules: readonly FirewallRule[];
}

/** Returns the IP family of a CIDR that became known during the run. */
function getFamily(range: string): "IPv4" | "IPv6" {
  if (Address4.isValid(range)) return "IPv4";
  if (Address6.isValid(range)) return "IPv6";
  throw new ProgramError(
    "INVALID_CONFIG",
    `The Output "${range}" is not an address range; pass one like 203.0.113.0/24.`,
  );
}

/** Returns the protocol of a rule. IPv6 has its own ICMP. */
const protocolOf = (
  protocol: NonNullable<FirewallRule["protocol"]>,
  ethertype: pulumi.Input<string>,
): pulumi.Input<string> =>
  protocol === "icmp" && pulumi.Output.isInstance(ethertype)
    ? ethertype.apply((family) => (family === "IPv6" ? "ipv6-icmp" : protocol))
    : protocol;

/** Security groups of the machines, with one resource for each rule. */
export class Firewall extends Component {
  static readonly type = "stackadm:network:Firewall";
  readonly #groups: ReadonlyMap<SecurityGroupKey, openstack.networking.SecGroup>;

  constructor(name: string, args: FirewallArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Firewall.type, name, opts);
    this.#groups = new Map(
      args.groups.map((planned) => [
        planned.group,
        this.make(openstack.networking.SecGroup, planned.group, {
          name: planned.name,
          description: getClusterDescriptionOutput(args.mark, planned.what),
          tags: getClusterTagsOutput(args.mark),
          // A second interface has no egress rules, so the machine cannot open connections there.
          // Replies to allowed connections need no egress rule.
          ...(planned.group === "admin" && { deleteDefaultRules: true }),
        }),
      ]),
    );
    for (const rule of args.rules) this.rule(rule);
    this.registerOutputs({});
  }

  /** IDs of the security groups. The keys are the names of {@link SecurityGroupKey}. */
  get ids(): Readonly<Record<string, pulumi.Output<string>>> {
    return Object.fromEntries([...this.#groups].map(([group, { id }]) => [group, id]));
  }

  /**
   * Returns the IDs of the security groups for machines with a role. Returns an empty list without
   * port security.
   */
  groupIds(role: MachineRole): pulumi.Output<string>[] {
    if (!this.#groups.has("node")) return [];
    return listSecurityGroupKeys(role).map((group) => this.group(group).id);
  }

  /** IDs of the security groups of second interfaces. */
  get adminGroupIds(): pulumi.Output<string>[] {
    return [this.group("admin").id];
  }

  private group(group: SecurityGroupKey): openstack.networking.SecGroup {
    const securityGroup = this.#groups.get(group);
    if (!securityGroup) throw new RangeError(`there is no security group ${group}`);
    return securityGroup;
  }

  private rule({ group, from, ports, protocol, ...rule }: FirewallRule): void {
    const range = "group" in from ? undefined : from.range;
    const ethertype = rule.ethertype ?? mapResolved(range ?? "", getFamily);
    this.make(
      openstack.networking.SecGroupRule,
      rule.key,
      {
        securityGroupId: this.group(group).id,
        direction: "ingress",
        ethertype,
        ...(protocol && { protocol: protocolOf(protocol, ethertype) }),
        ...(ports && { portRangeMin: ports[0], portRangeMax: ports[1] }),
        ...("group" in from
          ? { remoteGroupId: this.group(from.group).id }
          : { remoteIpPrefix: resolvePlaceholders(from.range) }),
        description: rule.reason,
      },
      // Neutron deletes rules together with their group, whereas the provider would take 5 s for
      // each rule. A replaced rule is deleted first, because Neutron refuses a rule that equals an
      // existing rule.
      { deletedWith: this.group(group), deleteBeforeReplace: true },
    );
  }
}
