import type { MachineRequirement } from "../../openstack/checks/cluster-requirements.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { MachineGroupSpec, MachineOverride } from "../config/machines/group-options.js";
import { listSeparateGroupSpecs, roleTable } from "../config/roles.js";
import {
  listPlannedGroups,
  type ClusterPlan,
  type PlannedGroup,
  type PlannedMachine,
} from "./cluster-plan.js";
import { getAdminPortName } from "./object-names.js";
import type { VolumePurpose } from "./volumes.js";

/** Returns the machine groups of the specification, by their path. */
const getGroupSpecs = (spec: ClusterSpec): Readonly<Record<string, MachineGroupSpec>> => ({
  controlPlane: spec.controlPlane,
  ...Object.fromEntries(
    Object.entries(spec.workers).map(([pool, written]) => [`workers.${pool}`, written]),
  ),
  ...Object.fromEntries(listSeparateGroupSpecs(spec).map(({ role, group }) => [role, group])),
});

/** Paths of the zone in groups whose arguments have one zone instead of a list. */
const singleZonePaths: Readonly<Record<string, string>> = { bastion: "bastion.zone" };

/** Machine with its group in the plan and in the specification. */
interface MachineInGroup {
  readonly machine: PlannedMachine;
  readonly group: PlannedGroup;
  readonly written: MachineGroupSpec | undefined;
}

/** Returns the settings of this machine that replace the settings of its group. */
const getOwnSettings = ({ machine, written }: MachineInGroup): MachineOverride =>
  written?.nodes[String(machine.position)] ?? {};

const getMachinePath = ({ machine, group }: MachineInGroup): string =>
  `${group.path}.nodes.${machine.position}`;

/** Returns the paths of the settings that apply to the machine. */
function getSettingPaths(one: MachineInGroup): MachineRequirement["paths"] {
  const { group, written } = one;
  const [own, machine] = [getOwnSettings(one), getMachinePath(one)];
  const image = written?.image === undefined ? "image" : `${group.path}.image`;
  const zones = singleZonePaths[group.path] ?? `${group.path}.zones`;
  const zone = written?.zones === undefined ? "zones" : zones;
  return {
    group: group.path,
    flavor: `${own.flavor === undefined ? group.path : machine}.flavor`,
    image: own.image === undefined ? image : `${machine}.image`,
    zone: own.zone === undefined ? zone : `${machine}.zone`,
  };
}

function getVolumePath(one: MachineInGroup, purpose: VolumePurpose): string {
  const key = `${purpose}Volume` as const;
  const isOwn = getOwnSettings(one)[key] !== undefined;
  return `${isOwn ? getMachinePath(one) : one.group.path}.${key}`;
}

const getKubeadmSize = ({ role }: PlannedMachine): MachineRequirement["kubeadmSize"] => {
  const { node, grant } = roleTable[role];
  if (!node) return "none";
  return grant === "certificates" ? "required" : "advised";
};

/** Returns what the machine needs from the cloud. */
function describeMachine(one: MachineInGroup, { network }: ClusterSpec): MachineRequirement {
  const { machine, group } = one;
  const { name, flavor, image, zone, generation, volumes } = machine;
  return {
    name,
    paths: getSettingPaths(one),
    flavor,
    image,
    zone,
    generation,
    kubeadmSize: getKubeadmSize(machine),
    grouped: group.policy !== undefined,
    ports: [name, ...(network.admin ? [getAdminPortName(machine)] : [])],
    volumes: volumes.map((volume) => ({
      path: getVolumePath(one, volume.purpose),
      name: volume.name,
      size: volume.size,
      type: volume.type,
      zone: volume.zone,
      boots: volume.purpose === "root",
    })),
  };
}

/** Returns what each machine of the cluster needs from the cloud. */
export function listMachineRequirements(
  spec: ClusterSpec,
  plan: ClusterPlan,
): MachineRequirement[] {
  const specs = getGroupSpecs(spec);
  return listPlannedGroups(plan).flatMap((group) =>
    group.machines.map((machine) =>
      describeMachine({ machine, group, written: specs[group.path] }, spec),
    ),
  );
}
