import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { Access } from "./access.js";
import type { PlannedGroup, PlannedMachine } from "../plan/cluster-plan.js";
import { livesByMajority, roleTable, type Leave } from "../plan/roles.js";
import { serverGroupNameOf } from "../identity/cluster-mark.js";
import { securityGroupIn } from "../support/catalog.js";
import { Component } from "../support/component.js";
import { policyOf } from "../support/openstack-plugin.js";
import { RemoteScript, type RemoteScriptArgs } from "../support/remote-script.js";
import { Machine, type MachineSettings } from "./machine.js";
import { ipv6Script, ipv6Values } from "./ipv6.js";
import { prepareScripts } from "./preparation.js";
import { guarded } from "./runtime-values.js";

export interface MachineGroupArgs {
  readonly plan: PlannedGroup;
  readonly machines: MachineSettings;
  /** Of the program's own; those of the plan come besides. */
  readonly securityGroupIds: readonly pulumi.Input<string>[];
  /** Ranges and addresses that the machines may send from, besides their own and those of the settings. */
  readonly allowedAddresses?: readonly pulumi.Input<string>[];
  /** Generation of a machine, known when it is its turn. @default the planned one, at once */
  readonly generationOf?: (machine: PlannedMachine) => pulumi.Input<number>;
}

/** A machine of a group, and what was planned for it. */
export interface Member {
  readonly plan: PlannedMachine;
  readonly machine: Machine;
}

/** How a machine is let go before its server is deleted. */
export interface LetGoArgs extends Pick<RemoteScriptArgs, "scripts" | "values"> {
  /** The machine that does it; it outlives the leaving one. The machine itself, if there is no other: it never leaves. */
  readonly survivor: Member;
  /** What the survivor does for it. Nothing: it goes without a word. */
  readonly leaves: readonly Leave[];
  readonly access: Access;
  /** What has to be in the state first. */
  readonly after?: pulumi.Resource;
}

interface ScriptArgs extends Pick<RemoteScriptArgs, "scripts" | "programs" | "values"> {
  readonly access: Access;
  /** What has to be in the state first. */
  readonly after?: pulumi.Resource | undefined;
}

/** The one way in which machines are made: a server group, and for each machine a port, a server and its scripts. */
export abstract class MachineGroup extends Component {
  readonly members: readonly Member[];
  protected readonly plan: PlannedGroup;
  readonly #failed: MachineSettings["failed"];
  readonly #cloudAuthority: string;
  readonly #ipv6: MachineSettings["ipv6"];

  protected constructor(
    type: string,
    name: string,
    args: MachineGroupArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(type, name, opts);
    const { plan } = args;
    this.plan = plan;
    this.#failed = args.machines.failed;
    this.#ipv6 = args.machines.ipv6;
    this.#cloudAuthority = args.machines.cloudAuthority?.trimEnd() ?? "";
    const found = pulumi.output(args.machines.cloud);
    const securityGroupIds = [
      ...args.securityGroupIds,
      ...plan.securityGroups.map((one) => found.apply((facts) => securityGroupIn(facts, one))),
    ];
    const serverGroupId = this.serverGroup(args);
    // Machines that are no nodes send for nobody else: no pod is on them.
    const sent = roleTable[plan.role].node ? {} : { routedRanges: [] };
    const made: Member[] = [];
    for (const planned of plan.machines)
      made.push({
        plan: planned,
        machine: this.make(Machine, String(planned.position), {
          ...{ ...args.machines, ...sent },
          plan: planned,
          securityGroupIds,
          allowedAddresses: args.allowedAddresses ?? [],
          ...(serverGroupId !== undefined && { serverGroupId }),
          placedAfter: this.placedBefore(planned, made),
          generation: args.generationOf?.(planned) ?? planned.generation,
        }),
      });
    this.members = made;
  }

  /**
   * The server that Nova has to have placed before: its scheduler keeps apart only from those that are there, and would put servers
   * that it is asked for at once on one host. Where most of the machines have to live that is worth the seconds, in which the
   * first one is prepared; zones keep apart anyhow.
   */
  private placedBefore(
    { role, zone }: PlannedMachine,
    made: readonly Member[],
  ): pulumi.Output<string> | undefined {
    if (this.plan.policy === undefined || !livesByMajority(role)) return undefined;
    return made.findLast((one) => one.plan.zone === zone)?.machine.serverId;
  }

  private serverGroup({ plan, machines }: MachineGroupArgs): pulumi.Output<string> | undefined {
    const { pool, policy } = plan;
    if (policy === undefined) return undefined;
    const name = serverGroupNameOf(machines.mark, pool);
    return this.make(
      openstack.compute.ServerGroup,
      "server-group",
      { name, policies: policyOf(policy) },
      // Another one would replace it: a group of an earlier release keeps its name.
      { ignoreChanges: ["name"] },
    ).id;
  }

  /** Makes a machine ready for kubeadm. */
  protected prepare(
    member: Member,
    access: Access,
    values: RemoteScriptArgs["values"],
  ): RemoteScript {
    const ipv6 = this.#ipv6 && ipv6Values(this.#ipv6, member.machine.ipv6Address);
    return this.script(member, "prepare", {
      ...{ access, scripts: [...prepareScripts, ...(ipv6 ? [ipv6Script] : [])] },
      values: {
        ...{ ...values, ...guarded(values), ...ipv6, VOLUMES: member.machine.volumes },
        ADMIN_ADDRESS: member.machine.adminAddress ?? "",
        CLOUD_AUTHORITY: this.#cloudAuthority,
      },
    });
  }

  /** A script on a machine, with a sentence for each way in which the machine can be the reason of its failure. */
  protected script(
    { plan, machine }: Member,
    step: string,
    { access, after, ...args }: ScriptArgs,
  ): RemoteScript {
    const connection = access.route(machine);
    return this.make(
      RemoteScript,
      `${String(plan.position)}-${step}`,
      { ...args, connection, when: "up" },
      {
        // order: what undoes the script is known before it begins.
        ...(after && { dependsOn: after }),
        hooks: { onError: [this.#failed.examine(machine.reachedBy(connection), step)] },
      },
    );
  }

  /** Runs on another machine before this one's server goes, replaced or for good. */
  protected letGo(
    { plan, machine }: Member,
    { survivor, leaves, access, after, ...args }: LetGoArgs,
  ): RemoteScript | undefined {
    if (leaves.length === 0) return undefined;
    return this.make(
      RemoteScript,
      `${String(plan.position)}-leave`,
      { ...args, connection: access.route(survivor.machine), when: "delete" },
      {
        ...(after && { dependsOn: after }),
        // Replaced with the server, which means here: run before the server is deleted, since both are deleted first.
        replaceWith: survivor.machine === machine ? [] : [machine.server],
        deleteBeforeReplace: true,
        // When the whole cluster goes, nobody moves.
        deletedWith: survivor.machine.server,
      },
    );
  }
}
