import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { Rollout } from "../lifecycle/rollout.js";
import type { MachineConnections } from "./machine-connections.js";
import type { PlannedGroup, PlannedMachine } from "../plan/cluster-plan.js";
import { needsMajority, roleTable, type LeaveStep } from "../config/roles.js";
import { getServerGroupNameOutput } from "../identity/resource-tags.js";
import { Component } from "../pulumi/component.js";
import { toServerGroupPolicies } from "../pulumi/openstack-plugin.js";
import { resolveEach } from "../pulumi/placeholders.js";
import {
  CopiedScripts,
  RemoteScript,
  type RemoteScriptArgs,
} from "../remote-scripts/remote-script.js";
import { copiedScriptsNameSuffix, type ScriptStep } from "../remote-scripts/script-steps.js";
import { Machine, type CommonMachineSettings } from "./machine.js";
import { getIpv6ScriptValues } from "./ipv6-script.js";
import { getPreparationStep } from "./preparation.js";
import { markImplicitSecrets } from "./secret-values.js";

export interface MachineGroupArgs {
  readonly plan: PlannedGroup;
  readonly machines: CommonMachineSettings;
  /**
   * Whether the settings contain an encrypted value. The program does not know which value is
   * encrypted.
   * @default false
   */
  readonly encrypted?: boolean;
  /** Steps that run on the machines. */
  readonly steps: readonly ScriptStep[];
  /**
   * IDs of the program's security groups. The security groups of the user, which the plan names,
   * are added.
   */
  readonly securityGroupIds: readonly pulumi.Input<string>[];
  /**
   * CIDRs and addresses from which the machines may send, in addition to `routedRanges`.
   * @default none
   */
  readonly allowedAddresses?: readonly pulumi.Input<string>[];
  /**
   * Returns the generation of a machine. The value becomes known at the machine's turn in the
   * rollout.
   * @default the planned generation, known at once
   */
  readonly generationOf?: (machine: PlannedMachine) => pulumi.Input<number>;
}

/** Arguments of a group whose machines are replaced in the order of a rollout. */
export interface RolloutGroupArgs extends Omit<MachineGroupArgs, "generationOf" | "steps"> {
  readonly turns: Rollout;
}

/** Machine of a group, with its plan. */
export interface MachineGroupMember {
  readonly plan: PlannedMachine;
  readonly machine: Machine;
  /** Returns the scripts on the machine. The first call copies the scripts to the machine. */
  readonly copied: (access: MachineConnections) => CopiedScripts;
}

/** Arguments of the script that runs before a machine's server is deleted. */
export interface SurvivorScriptArgs extends Pick<RemoteScriptArgs, "step" | "values"> {
  /**
   * Machine on which the script runs. This machine must exist longer than the machine that leaves.
   * The last machine of a cluster never leaves, so its survivor is the machine itself.
   */
  readonly survivor: MachineGroupMember;
  /** Steps that the survivor runs. If there are none, no script is created. */
  readonly leaves: readonly LeaveStep[];
  readonly access: MachineConnections;
  /** Resource that must be created before the script. */
  readonly after?: pulumi.Resource;
}

interface ScriptArgs extends Pick<RemoteScriptArgs, "step" | "values"> {
  readonly access: MachineConnections;
  /** Resource that must be created before the script. */
  readonly after?: pulumi.Resource | undefined;
}

/**
 * Base class of a group of machines. The class creates a server group, and for each machine its
 * ports, volumes, server and scripts.
 */
export abstract class MachineGroup extends Component {
  readonly members: readonly MachineGroupMember[];
  protected readonly plan: PlannedGroup;
  readonly #failed: CommonMachineSettings["failed"];
  readonly #cloudAuthority: string;
  readonly #encrypted: boolean;
  readonly #ipv6: CommonMachineSettings["ipv6"];

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
    this.#encrypted = args.encrypted ?? false;
    this.#cloudAuthority = args.machines.cloudAuthority?.trimEnd() ?? "";
    const securityGroupIds = [
      ...args.securityGroupIds,
      ...plan.securityGroups.map((one) => args.machines.objects.securityGroupId(one)),
    ];
    const serverGroupId = this.serverGroup(args);
    // Machines that are not nodes run no pods, so their ports do not allow addresses of pods.
    const sent = roleTable[plan.role].node ? {} : { routedRanges: [] };
    const members: MachineGroupMember[] = [];
    for (const planned of plan.machines) {
      const machine = this.make(Machine, String(planned.position), {
        ...args.machines,
        ...sent,
        plan: planned,
        securityGroupIds,
        allowedAddresses: args.allowedAddresses ?? [],
        ...(serverGroupId !== undefined && { serverGroupId }),
        placedAfter: this.placedBefore(planned, members),
        generation: args.generationOf?.(planned) ?? planned.generation,
      });
      members.push({ plan: planned, machine, copied: this.copying(planned, machine, args.steps) });
    }
    this.members = members;
  }

  /**
   * Returns the ID of the server that Nova must place before this machine's server, or undefined.
   * Nova's scheduler separates a new server only from servers that exist, so it could put servers
   * that are created together on one host. Waiting costs some seconds for each server. Therefore
   * only roles that need a majority wait, and only for servers in the same availability zone.
   */
  private placedBefore(
    { role, zone }: PlannedMachine,
    earlier: readonly MachineGroupMember[],
  ): pulumi.Output<string> | undefined {
    if (this.plan.policy === undefined || !needsMajority(role)) return undefined;
    return earlier.findLast((one) => one.plan.zone === zone)?.machine.serverId;
  }

  private serverGroup({ plan, machines }: MachineGroupArgs): pulumi.Output<string> | undefined {
    const { pool, policy } = plan;
    if (policy === undefined) return undefined;
    const name = getServerGroupNameOutput(machines.mark, pool);
    return this.make(openstack.compute.ServerGroup, "server-group", {
      name,
      policies: toServerGroupPolicies(policy),
    }).id;
  }

  /**
   * Returns a function that copies the scripts to the machine when it is called for the first time.
   */
  private copying(
    { position }: PlannedMachine,
    machine: Machine,
    steps: readonly ScriptStep[],
  ): MachineGroupMember["copied"] {
    const copy = (access: MachineConnections): CopiedScripts => {
      const connection = access.connectionTo(machine);
      const onError = [
        this.#failed.createScriptErrorHook(machine.reachedBy(connection), copiedScriptsNameSuffix),
      ];
      return this.make(
        CopiedScripts,
        `${String(position)}-${copiedScriptsNameSuffix}`,
        { connection, steps },
        { hooks: { onError } },
      );
    };
    let copied: CopiedScripts | undefined;
    return (access) => (copied ??= copy(access));
  }

  /** Prepares a machine for kubeadm. */
  protected prepare(
    member: MachineGroupMember,
    access: MachineConnections,
    values: RemoteScriptArgs["values"],
  ): RemoteScript {
    const ipv6 = this.#ipv6 && getIpv6ScriptValues(this.#ipv6, member.machine.ipv6Address);
    return this.script(member, "prepare", {
      access,
      step: getPreparationStep({ ipv6: this.#ipv6 }),
      values: {
        ...values,
        ...ipv6,
        VOLUMES: member.machine.volumes,
        ADMIN_ADDRESS: member.machine.adminAddress ?? "",
        CLOUD_AUTHORITY: this.#cloudAuthority,
      },
    });
  }

  /**
   * Creates a script on a machine. If the script fails because of the machine, an error hook
   * reports the cause.
   */
  protected script(
    { plan, machine, copied }: MachineGroupMember,
    name: string,
    { access, after, step, values }: ScriptArgs,
  ): RemoteScript {
    const connection = access.connectionTo(machine);
    const script = this.make(
      RemoteScript,
      `${String(plan.position)}-${name}`,
      {
        step,
        connection,
        copied: copied(access),
        when: "up",
        values: resolveEach({ ...values, ...markImplicitSecrets(values, this.#encrypted) }),
      },
      {
        // `after` is the script that undoes this script. The state must contain `after` before this
        // script starts, because this script may be interrupted.
        ...(after && { dependsOn: after }),
        hooks: {
          onError: [this.#failed.createScriptErrorHook(machine.reachedBy(connection), name)],
        },
      },
    );
    this.#failed.recordFinishedScript(machine.serverId, script.id);
    return script;
  }

  /**
   * Creates the script that runs on the survivor before this machine's server is deleted or
   * replaced. Returns undefined if `leaves` is empty.
   */
  protected createLeaveScript(
    { plan, machine }: MachineGroupMember,
    { survivor, leaves, access, after, ...args }: SurvivorScriptArgs,
  ): RemoteScript | undefined {
    if (leaves.length === 0) return undefined;
    return this.make(
      RemoteScript,
      `${String(plan.position)}-leave`,
      { ...args, connection: access.connectionTo(survivor.machine), when: "delete" },
      {
        ...(after && { dependsOn: after }),
        // Pulumi replaces the script whenever it replaces the server. Because both are deleted
        // before they are created again, the script runs before the server is deleted.
        replaceWith: survivor.machine === machine ? [] : [machine.server],
        deleteBeforeReplace: true,
        // Skips the script if the survivor's server is deleted too. This happens only when the
        // whole cluster is destroyed.
        deletedWith: survivor.machine.server,
      },
    );
  }
}
