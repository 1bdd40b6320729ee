import { generationMetadataKey } from "../inventory/ownership.js";
import type { CloudObject } from "../inventory/inventory.js";
import type { MachineRequirement } from "./cluster-requirements.js";
import { createProblem, createWarning, type Finding } from "./finding.js";

/** Machines of a cluster, by what the next run does with their servers. */
export interface MachineChanges {
  /** Machines without a server. */
  readonly missing: readonly MachineRequirement[];
  /** Machines whose server is replaced, because the generation in the settings differs. */
  readonly replaced: readonly MachineRequirement[];
  /** Machines whose server is kept. A change of its flavor, image or zone has no effect. */
  readonly kept: readonly MachineRequirement[];
}

/**
 * Returns what the next run does with each machine.
 *
 * @param objects existing objects of the cluster
 */
export function findMachineChanges(
  machines: readonly MachineRequirement[],
  objects: readonly CloudObject[],
): MachineChanges {
  const servers = new Map(
    objects.filter(({ kind }) => kind === "server").map((server) => [server.name, server]),
  );
  const changeOf = ({ name, generation }: MachineRequirement): keyof MachineChanges => {
    const server = servers.get(name);
    if (!server) return "missing";
    const created = server.metadata[generationMetadataKey];
    return created === undefined || created === String(generation) ? "kept" : "replaced";
  };
  const changes: Record<keyof MachineChanges, MachineRequirement[]> = {
    missing: [],
    replaced: [],
    kept: [],
  };
  for (const machine of machines) changes[changeOf(machine)].push(machine);
  return changes;
}

/**
 * Reports each text of `check` once. A text about a machine whose server is created is a problem. A
 * text only about machines whose servers are kept is a warning.
 */
export function checkEachMachine(
  { missing, replaced, kept }: MachineChanges,
  check: (machine: MachineRequirement) => readonly string[],
): Finding[] {
  const problems = new Set([...missing, ...replaced].flatMap(check));
  const later = new Set(kept.flatMap(check).filter((text) => !problems.has(text)));
  return [
    ...[...problems].map(createProblem),
    ...[...later].map((text) =>
      createWarning(`${text}; the machines that exist keep running, but none can be replaced`),
    ),
  ];
}
