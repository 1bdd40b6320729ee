import type * as pulumi from "@pulumi/pulumi";
import { Bastion } from "./access/bastion.js";
import type { ClusterSpec } from "./config/cluster-spec.js";
import type { SeparateRole } from "./config/roles.js";
import { Etcd } from "./etcd/etcd.js";
import type { MachineGroup, RolloutGroupArgs } from "./machine/machine-group.js";
import type { MachineConnections } from "./machine/machine-connections.js";
import type { SeparatePlannedGroup } from "./plan/cluster-plan.js";

/** Group of machines that are not nodes. */
type SeparateGroup = MachineGroup & {
  /**
   * Creates the resources that run the group's scripts. Called before the control planes create
   * their resources.
   */
  readonly formCluster?: (spec: ClusterSpec, access: MachineConnections) => void;
};

/** Constructor of a component with a group of machines that are not nodes. */
export type SeparateGroupClass<Group extends SeparateGroup = SeparateGroup> = new (
  name: string,
  args: RolloutGroupArgs,
  opts?: pulumi.ComponentResourceOptions,
) => Group;

/** Classes of the groups of machines that are not nodes, by role. */
export const separateGroupClasses = {
  bastion: Bastion,
  etcd: Etcd,
} satisfies Readonly<Record<SeparateRole, SeparateGroupClass>>;

/** Groups of machines that are not nodes, by role. */
export type SeparateGroups = {
  readonly [Of in SeparateRole]?: InstanceType<(typeof separateGroupClasses)[Of]>;
};

/** Creates the planned groups of machines that are not nodes. */
export const createSeparateGroups = (
  planned: readonly SeparatePlannedGroup[],
  create: (type: SeparateGroupClass, plan: SeparatePlannedGroup) => SeparateGroup,
): SeparateGroups =>
  Object.fromEntries(
    planned.map((plan) => [plan.role, create(separateGroupClasses[plan.role], plan)]),
  );

/** Returns each group with its role, in the order of the role table. */
export const listSeparateGroups = (
  groups: SeparateGroups,
): readonly (readonly [SeparateRole, SeparateGroup])[] =>
  Object.entries(groups) as [SeparateRole, SeparateGroup][];
