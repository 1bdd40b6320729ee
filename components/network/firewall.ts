import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { clusterTag } from "../../cloud/ownership.js";
import { Component } from "../support/component.js";
import {
  firewallRules,
  groupsOf,
  type FirewallPlan,
  type FirewallRule,
  type Group,
  type Role,
} from "./firewall-rules.js";

export interface FirewallArgs extends FirewallPlan {
  /** Begins the names in the cloud. */
  readonly clusterName: string;
}

/** The security groups of the machines, and one rule resource per row of the table. */
export class Firewall extends Component {
  static readonly type = "stackadm:network:Firewall";
  readonly #groups: Readonly<Record<Group, openstack.networking.SecGroup>>;

  constructor(name: string, args: FirewallArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Firewall.type, name, opts);
    this.#groups = {
      node: this.group(args.clusterName, "node"),
      "control-plane": this.group(args.clusterName, "control-plane"),
      worker: this.group(args.clusterName, "worker"),
    };
    for (const rule of firewallRules(args)) this.rule(rule);
    this.registerOutputs({});
  }

  /** IDs of the groups of a machine. */
  groupIds(role: Role): pulumi.Output<string>[] {
    return groupsOf(role).map((group) => this.#groups[group].id);
  }

  private group(clusterName: string, group: Group): openstack.networking.SecGroup {
    return this.make(openstack.networking.SecGroup, group, {
      name: `${clusterName}-${group}`,
      description:
        group === "node"
          ? `All machines of cluster ${clusterName}`
          : `Machines of cluster ${clusterName} with the role ${group}`,
      tags: [clusterTag(clusterName)],
    });
  }

  private rule({ group, from, ports, protocol, ...rule }: FirewallRule): void {
    this.make(
      openstack.networking.SecGroupRule,
      rule.key,
      {
        securityGroupId: this.#groups[group].id,
        direction: "ingress",
        ethertype: rule.ethertype,
        ...(protocol && { protocol }),
        ...(ports && { portRangeMin: ports[0], portRangeMax: ports[1] }),
        ...("group" in from
          ? { remoteGroupId: this.#groups[from.group].id }
          : { remoteIpPrefix: from.range }),
        description: rule.reason,
      },
      // The provider deletes rules one by one, 5 s each; they go with their group anyway.
      // Neutron refuses a rule that says the same as one that is still there.
      { deletedWith: this.#groups[group], deleteBeforeReplace: true },
    );
  }
}
