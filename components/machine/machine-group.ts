import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { Rollout } from "../lifecycle/rollout.js";
import type { SshAccess } from "./ssh-access.js";
import type { PlannedGroup, PlannedMachine } from "../plan/cluster-plan.js";
import { needsMajority, roleTable, type LeaveStep } from "../config/roles.js";
import { serverGroupNameOf } from "../identity/resource-tags.js";
import { securityGroupIn } from "../lookup/cloud-lookup.js";
import { Component } from "../pulumi/component.js";
import { serverGroupPolicies } from "../pulumi/openstack-plugin.js";
import {
  CopiedScripts,
  RemoteScript,
  type RemoteScriptArgs,
} from "../remote-scripts/remote-script.js";
import { copyName, type Step } from "../remote-scripts/script-steps.js";
import { Machine, type MachineSettings } from "./machine.js";
import { ipv6ScriptVariables } from "./ipv6-script.js";
import { prepareStepOf } from "./preparation.js";
import { implicitSecrets } from "./secret-values.js";

export interface MachineGroupArgs {
  readonly plan: PlannedGroup;
  readonly machines: MachineSettings;
  /** Whether a value of the settings is encrypted, which may be any. @default no */
  readonly encrypted?: boolean;
  /** Steps that run on the machines. */
  readonly steps: readonly Step[];
  /** IDs of the program's own security groups. The groups that the plan names are added. */
  readonly securityGroupIds: readonly pulumi.Input<string>[];
  /** Further ranges and addresses that the machines may send from, besides `routedRanges`. */
  readonly allowedAddresses?: readonly pulumi.Input<string>[];
  /** Returns a machine's generation when its turn comes. @default the planned one, at once */
  readonly generationOf?: (machine: PlannedMachine) => pulumi.Input<number>;
}

/** Arguments of a group whose machines are replaced in the order of a rollout. */
export interface RolloutGroupArgs extends Omit<MachineGroupArgs, "generationOf" | "steps"> {
  readonly turns: Rollout;
}

/** Machine of a group, with its plan. */
export interface Member {
  readonly plan: PlannedMachine;
  readonly machine: Machine;
  /** Returns the machine's scripts. The first call copies them to the machine. */
  readonly copied: (access: SshAccess) => CopiedScripts;
}

/** Arguments of the script that runs before a machine's server is deleted. */
export interface LeaveScriptArgs extends Pick<RemoteScriptArgs, "step" | "values"> {
  /**
   * Machine on which the script runs; it outlives the leaving one. It is the machine itself if
   * there is no other, since the last machine never leaves.
   */
  readonly survivor: Member;
  /** Steps that the survivor runs. Empty: there is no script. */
  readonly leaves: readonly LeaveStep[];
  readonly access: SshAccess;
  /** Resource that must be in the state first. */
  readonly after?: pulumi.Resource;
}

interface ScriptArgs extends Pick<RemoteScriptArgs, "step" | "values"> {
  readonly access: SshAccess;
  /** Resource that must be in the state first. */
  readonly after?: pulumi.Resource | undefined;
}

/**
 * Base class that creates a group of machines: a server group, and for each machine a port, a
 * server and its scripts.
 */
export abstract class MachineGroup extends Component {
  readonly members: readonly Member[];
  protected readonly plan: PlannedGroup;
  readonly #failed: MachineSettings["failed"];
  readonly #cloudAuthority: string;
  readonly #encrypted: boolean;
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
    this.#encrypted = args.encrypted ?? false;
    this.#cloudAuthority = args.machines.cloudAuthority?.trimEnd() ?? "";
    const found = pulumi.output(args.machines.cloud);
    const securityGroupIds = [
      ...args.securityGroupIds,
      ...plan.securityGroups.map((one) => found.apply((facts) => securityGroupIn(facts, one))),
    ];
    const serverGroupId = this.serverGroup(args);
    // Machines that are no nodes run no pods, so their ports need no pod ranges.
    const sent = roleTable[plan.role].node ? {} : { routedRanges: [] };
    const made: Member[] = [];
    for (const planned of plan.machines) {
      const machine = this.make(Machine, String(planned.position), {
        ...args.machines,
        ...sent,
        plan: planned,
        securityGroupIds,
        allowedAddresses: args.allowedAddresses ?? [],
        ...(serverGroupId !== undefined && { serverGroupId }),
        placedAfter: this.placedBefore(planned, made),
        generation: args.generationOf?.(planned) ?? planned.generation,
      });
      made.push({ plan: planned, machine, copied: this.copying(planned, machine, args.steps) });
    }
    this.members = made;
  }

  /**
   * Returns the server that Nova must place first, if any. Nova's scheduler separates a server only
   * from existing ones, and could put servers that are requested together on one host. The wait of
   * some seconds is worth it only for roles that need a majority, and only within a zone.
   */
  private placedBefore(
    { role, zone }: PlannedMachine,
    made: readonly Member[],
  ): pulumi.Output<string> | undefined {
    if (this.plan.policy === undefined || !needsMajority(role)) return undefined;
    return made.findLast((one) => one.plan.zone === zone)?.machine.serverId;
  }

  private serverGroup({ plan, machines }: MachineGroupArgs): pulumi.Output<string> | undefined {
    const { pool, policy } = plan;
    if (policy === undefined) return undefined;
    const name = serverGroupNameOf(machines.mark, pool);
    return this.make(
      openstack.compute.ServerGroup,
      "server-group",
      { name, policies: serverGroupPolicies(policy) },
      // A new name would replace the group, so a group of an earlier release keeps its name.
      { ignoreChanges: ["name"] },
    ).id;
  }

  /** Returns the function that copies a machine's scripts to it once. */
  private copying(
    { position }: PlannedMachine,
    machine: Machine,
    steps: readonly Step[],
  ): Member["copied"] {
    const copy = (access: SshAccess): CopiedScripts => {
      const connection = access.route(machine);
      const onError = [this.#failed.examine(machine.reachedBy(connection), copyName)];
      return this.make(
        CopiedScripts,
        `${String(position)}-${copyName}`,
        { connection, steps },
        { hooks: { onError } },
      );
    };
    let copied: CopiedScripts | undefined;
    return (access) => (copied ??= copy(access));
  }

  /** Prepares a machine for kubeadm. */
  protected prepare(
    member: Member,
    access: SshAccess,
    values: RemoteScriptArgs["values"],
  ): RemoteScript {
    const ipv6 = this.#ipv6 && ipv6ScriptVariables(this.#ipv6, member.machine.ipv6Address);
    return this.script(member, "prepare", {
      access,
      step: prepareStepOf({ ipv6: this.#ipv6 }),
      values: {
        ...values,
        ...ipv6,
        VOLUMES: member.machine.volumes,
        ADMIN_ADDRESS: member.machine.adminAddress ?? "",
        CLOUD_AUTHORITY: this.#cloudAuthority,
      },
    });
  }

  /** Creates a script on a machine. If it fails because of the machine, an error hook says why. */
  protected script(
    { plan, machine, copied }: Member,
    name: string,
    { access, after, step, values }: ScriptArgs,
  ): RemoteScript {
    const connection = access.route(machine);
    const script = this.make(
      RemoteScript,
      `${String(plan.position)}-${name}`,
      {
        step,
        connection,
        copied: copied(access),
        when: "up",
        values: { ...values, ...implicitSecrets(values, this.#encrypted) },
      },
      {
        // order: the script that undoes this one is in the state before this one starts.
        ...(after && { dependsOn: after }),
        hooks: { onError: [this.#failed.examine(machine.reachedBy(connection), name)] },
      },
    );
    this.#failed.ran(machine.serverId, script.id);
    return script;
  }

  /** Creates the script that runs on the survivor before this server is deleted or replaced. */
  protected letGo(
    { plan, machine }: Member,
    { survivor, leaves, access, after, ...args }: LeaveScriptArgs,
  ): RemoteScript | undefined {
    if (leaves.length === 0) return undefined;
    return this.make(
      RemoteScript,
      `${String(plan.position)}-leave`,
      { ...args, connection: access.route(survivor.machine), when: "delete" },
      {
        ...(after && { dependsOn: after }),
        // Replaced together with the server. Both are deleted before they are created again, so the
        // script runs before the server is deleted.
        replaceWith: survivor.machine === machine ? [] : [machine.server],
        deleteBeforeReplace: true,
        // Skipped if the survivor's server is deleted too: then the whole cluster is destroyed.
        deletedWith: survivor.machine.server,
      },
    );
  }
}
