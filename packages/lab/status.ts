import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { computeGoldenCloudKey } from "./cloud/golden-cloud.js";
import { findUnreachableApis } from "./cloud/readiness.js";
import { listLabRemains } from "./cloud/start-and-remove-cloud.js";
import { listOpenStackServices, getUnitName } from "./cloud/units.js";
import { getLabFacts, type LabFacts } from "./facts.js";
import { getContainerState, runInContainer } from "./host/container.js";
import { readResidentMemory } from "./host/memory.js";
import { getLabPaths, readLabSettings, type LabPaths } from "./settings.js";
import { readState, getRunningSettings, type RunningLabRecord } from "./state.js";

export interface LabStatus {
  /**
   * State of the lab. `busy`: another process is starting or destroying the lab. `broken`: parts of
   * a lab that cannot be used are on the host, and `lab up` or `lab down` repairs it.
   */
  readonly state: "up" | "down" | "busy" | "broken";
  /** Problems, one sentence each. The list is empty when the lab is up or down. */
  readonly problems: readonly string[];
  /** Facts of a lab that is up. */
  readonly facts?: LabFacts;
  /** Key of the golden cloud from which the lab was started. */
  readonly key?: string;
  /**
   * Whether the running lab was built from the current files. If false, `lab down` and `lab up`
   * start a cloud from the current files.
   */
  readonly current?: boolean;
  readonly startedAt?: string;
  /** Resident memory of the cloud with all its servers in MiB. */
  readonly memory?: number;
  /** Versions of the OpenStack packages in the cloud. */
  readonly versions?: Readonly<Record<string, string>>;
}

/**
 * Returns the units that are not active, from the output of `systemctl is-active` for the same
 * names.
 */
export const parseInactiveUnits = (names: readonly string[], output: string): string[] => {
  const states = output.trim().split("\n");
  return names
    .map((name, index) => ({ name, state: states[index]?.trim() ?? "unknown" }))
    .filter(({ state }) => state !== "active")
    .map(({ name, state }) => `${name} is ${state}`);
};

/** Returns the problems that make a started lab unusable. Takes about half a second. */
export async function findLabProblems(state: RunningLabRecord): Promise<string[]> {
  const { settings } = state;
  const container = await getContainerState(settings.name);
  if (container !== "running") return [`container ${settings.name} is ${container ?? "not there"}`];
  const names = listOpenStackServices(settings).map(getUnitName);
  const [units, silent] = await Promise.all([
    runInContainer(settings.name, ["systemctl", "is-active", ...names], { accept: [0, 1, 3] }),
    findUnreachableApis(settings),
  ]);
  return [
    ...parseInactiveUnits(names, units.stdout),
    ...silent.map((name) => `${name} accepts no connection`),
  ];
}

const shown = ["keystone", "nova-common", "neutron-common", "cinder-common", "octavia-common"];

async function openStackVersions(paths: LabPaths, key: string): Promise<Record<string, string>> {
  const file = join(paths.goldens, key, "packages.txt");
  if (!existsSync(file)) return {};
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.split(" "));
  return Object.fromEntries(
    lines.flatMap(([name = "", version = ""]) => (shown.includes(name) ? [[name, version]] : [])),
  );
}

const lockHolder = z.object({ pid: z.number(), purpose: z.string() });

/**
 * Returns a sentence about the process that holds the lab's lock, from the content of the lock
 * file. Returns undefined if no such process runs.
 */
export function describeLockHolder(
  lock: string,
  alive: (pid: number) => boolean,
): string | undefined {
  try {
    const { pid, purpose } = lockHolder.parse(JSON.parse(lock));
    return alive(pid) ? `process ${pid} is at work: ${purpose}` : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the state of the lab. Changes nothing. */
export async function labStatus(): Promise<LabStatus> {
  const wanted = readLabSettings();
  const paths = getLabPaths(wanted.name);
  const lock = await readFile(paths.lock, "utf8").catch(() => "");
  const work = describeLockHolder(lock, (pid) => existsSync(`/proc/${pid}`));
  if (work !== undefined) return { state: "busy", problems: [work] };
  const state = await readState(paths);
  if (!state) {
    const left = await listLabRemains(wanted, paths);
    const container = await getContainerState(wanted.name);
    if (container !== undefined) left.push(`container ${wanted.name}`);
    return { state: left.length === 0 ? "down" : "broken", problems: left };
  }
  const settings = getRunningSettings(state);
  const problems = await findLabProblems(state);
  const common = { key: state.key, startedAt: state.startedAt, problems };
  if (problems.length > 0) return { state: "broken", ...common };
  const memory = await readResidentMemory(settings.name);
  return {
    state: "up",
    ...common,
    facts: getLabFacts(settings, paths),
    current: state.key === computeGoldenCloudKey(settings, paths),
    versions: await openStackVersions(paths, state.key),
    ...(memory !== undefined && { memory }),
  };
}
