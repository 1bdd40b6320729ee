import type { FrozenValuesByPath } from "../config/immutable-fields.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  listPlannedControlPlanes,
  getSshEntryRole,
  listPlannedMachines,
  planCluster,
  type ClusterPlan,
  type PlannedMachine,
} from "./cluster-plan.js";
import { needsMajority, roleTable, listSeparateGroupSpecs } from "../config/roles.js";
import type { MachineGroupSpec } from "../config/machines/group-options.js";

/**
 * Generation with which each existing server was created. Keys: the servers' names. Empty text: the
 * generation is unknown.
 */
export type ExistingGenerations = ReadonlyMap<string, string>;

interface Problem {
  readonly path: string;
  readonly message: string;
}

/**
 * Machine whose server the run would replace. `made` is the generation with which the server was
 * created.
 */
interface Replaced {
  readonly machine: PlannedMachine;
  readonly made: string;
}

/**
 * Returns the machines whose existing server has another generation than the plan. Leaves out
 * servers with an unknown generation.
 */
export const listMachinesToReplace = (
  machines: readonly PlannedMachine[],
  existing: ExistingGenerations,
): Replaced[] =>
  machines.flatMap((machine) => {
    const made = existing.get(machine.name) ?? "";
    return made === "" || made === String(machine.generation) ? [] : [{ machine, made }];
  });

/**
 * Returns the generations of control planes and of machines that are not nodes, by path. The state
 * contains these generations, so that the next run detects and checks a change. Leaves out groups
 * in which all machines have generation 0.
 */
export const getGenerationsToRecord = ({
  groups: [leading],
  separate,
}: ClusterPlan): FrozenValuesByPath =>
  Object.fromEntries(
    [leading, ...separate].flatMap(({ path, machines }) => {
      const generations = machines.map(({ generation }) => generation);
      return generations.some((one) => one > 0)
        ? [[`${path}.generation`, generations.join(" ")]]
        : [];
    }),
  );

/** Returns a problem for each server that this run would replace but must not. */
export function findReplacementProblems(
  spec: ClusterSpec,
  existing: ExistingGenerations,
): Problem[] {
  const plan = planCluster(spec);
  return [
    ...ofControlPlanes(spec, plan, existing),
    ...ofEtcd(spec, plan, existing),
    ...ofEntry(plan, existing),
  ];
}

/**
 * Function that returns the end of an error message: why the run must not replace the machine, and
 * what to write instead. `generation` is the generation of the existing server. Undefined: the run
 * may replace the machine.
 */
type Reason = ((generation: string) => string) | undefined;

/**
 * Group whose machines are replaced in the order of their positions. `nodes` has the user's
 * settings for single machines.
 */
interface Ordered extends Pick<MachineGroupSpec, "nodes"> {
  readonly path: string;
  readonly machines: readonly PlannedMachine[];
}

/**
 * Returns one problem for each machine of a group that the run would replace but must not. If all
 * servers of the group have the same generation and no entry in `nodes` sets a generation, returns
 * only one problem, for the group's setting `generation`.
 */
function ofGroup(
  { path, nodes, machines }: Ordered,
  existing: ExistingGenerations,
  against: (machine: PlannedMachine) => Reason,
): Problem[] {
  const wrong = listMachinesToReplace(machines, existing).flatMap(({ machine, made }) => {
    const reason = against(machine);
    return reason === undefined ? [] : [{ machine, sentence: reason(made) }];
  });
  const [first] = wrong;
  if (!first) return [];
  const problem = ({ machine, sentence }: typeof first, below: string): Problem => ({
    path: `cluster.${path}.${below}`,
    message: `${String(machine.generation)} would replace ${machine.name}, ${sentence}`,
  });
  const alike = new Set(machines.flatMap(({ name }) => existing.get(name) ?? [])).size === 1;
  if (alike && Object.values(nodes).every((one) => one.generation === undefined))
    return [problem(first, "generation")];
  return wrong.map((one) => problem(one, `nodes.${String(one.machine.position)}.generation`));
}

const ofControlPlanes = (
  spec: ClusterSpec,
  plan: ClusterPlan,
  existing: ExistingGenerations,
): Problem[] =>
  ofGroup(
    {
      path: "controlPlane",
      nodes: spec.controlPlane.nodes,
      machines: listPlannedControlPlanes(plan),
    },
    existing,
    (machine) => againstControlPlane(machine, plan, existing),
  );

const ofEtcd = (spec: ClusterSpec, plan: ClusterPlan, existing: ExistingGenerations): Problem[] =>
  listSeparateGroupSpecs(spec)
    .filter(({ role }) => needsMajority(role))
    .flatMap(({ role, group: { nodes } }) => {
      const machines = listPlannedMachines(plan).filter((one) => one.role === role);
      return ofGroup({ path: role, nodes, machines }, existing, (machine) =>
        againstMember(machine, machines, { plan, existing }),
      );
    });

function againstControlPlane(
  { position }: PlannedMachine,
  plan: ClusterPlan,
  existing: ExistingGenerations,
): Reason {
  const machines = listPlannedControlPlanes(plan);
  const leaving = listRemovedControlPlanes(plan, existing);
  if (leaving.length > 0) {
    const count = String(machines.length + leaving.length);
    return (generation) =>
      `while ${named(leaving)} would be removed; write ${generation} again, or ${count} as controlPlane.count until all are replaced`;
  }
  if (machines.length < 3)
    return (generation) =>
      `the only control plane, and the cluster would be lost with it; write ${generation} again, scale to 3 control planes first, or destroy the cluster and create it again`;
  return missingBehind(position, machines, existing);
}

/**
 * Returns the reason why a machine must not be replaced while a machine with a higher position is
 * missing: two machines would then be down at the same time. A missing machine with a lower
 * position is recreated first, so it is not a reason.
 */
function missingBehind(
  position: number,
  machines: readonly PlannedMachine[],
  existing: ExistingGenerations,
): Reason {
  const missing = machines.filter((one) => one.position > position && !existing.has(one.name));
  if (missing.length === 0) return undefined;
  return (generation) =>
    `while there is no ${named(missing.map(({ name }) => name))}; write ${generation} again, run \`up --refresh\`, and raise it again afterwards`;
}

function againstMember(
  { position }: PlannedMachine,
  machines: readonly PlannedMachine[],
  { plan, existing }: { readonly plan: ClusterPlan; readonly existing: ExistingGenerations },
): Reason {
  if (machines.length < 3)
    return (generation) =>
      `the only machine of etcd, and the cluster's data would be lost with it; write ${generation} again`;
  // etcd must work while a control plane is replaced. In addition, SSH may reach the etcd machines
  // through that control plane.
  const replaced = listMachinesToReplace(listPlannedControlPlanes(plan), existing).map(
    ({ machine }) => machine.name,
  );
  if (replaced.length > 0)
    return (generation) =>
      `while ${named(replaced)} would be replaced in the same run; write ${generation} again, run \`up\`, and raise it in a separate run`;
  return missingBehind(position, machines, existing);
}

/** Returns the names of existing servers of control planes that the plan no longer contains. */
export const listRemovedControlPlanes = (
  plan: ClusterPlan,
  existing: ExistingGenerations,
): string[] => [...existing.keys()].filter((name) => leaves(name, plan));

/**
 * Returns whether a server with this name belongs to a control plane that the plan no longer
 * contains.
 */
const leaves = (name: string, { groups: [group] }: ClusterPlan): boolean =>
  name.startsWith(`${group.name}-`) &&
  /^\d+$/.test(name.slice(group.name.length + 1)) &&
  !group.machines.some((one) => one.name === name);

/**
 * Refuses to replace the bastion in a run that also replaces or deletes other machines. SSH reaches
 * all other machines through the bastion. The new bastion has a new host key, but scripts that run
 * before a machine is deleted use the host key from the last run.
 */
function ofEntry(plan: ClusterPlan, existing: ExistingGenerations): Problem[] {
  const entry = plan.separate.find(({ role }) => role === getSshEntryRole(plan));
  const [replaced] = listMachinesToReplace(entry?.machines ?? [], existing);
  if (!entry || !replaced) return [];
  const { machine, made } = replaced;
  const all = listPlannedMachines(plan);
  const planned = new Set(all.map(({ name }) => name));
  const moving = [
    ...listMachinesToReplace(all, existing).map((one) => one.machine.name),
    ...[...existing.keys()].filter((name) => !planned.has(name)),
  ].filter((name) => name !== machine.name);
  if (moving.length === 0) return [];
  return [
    {
      path: `cluster.${entry.path}.generation`,
      message: `${String(machine.generation)} would replace the ${roleTable[entry.role].title}, through which SSH reaches ${named(moving)}, and these would be replaced or removed in the same run; write ${made} again, run \`up\`, and raise it in a separate run`,
    },
  ];
}

const named = (names: readonly string[]): string => names.join(", ");
