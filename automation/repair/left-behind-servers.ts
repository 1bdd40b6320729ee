import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { clockTolerance, getStateWriteTime, type RunPeriod } from "../pulumi/run-history.js";
import {
  createUnprovenAttribution,
  attributeByTime,
  type Attribution,
} from "./object-attribution.js";
import type { StateExport, StateResource } from "../pulumi/stack-state.js";
import { isScript } from "../engine/interrupted-scripts.js";
import { parseUrn } from "../pulumi/urn.js";

/*
 * Decides whether a run left behind a server, so that the server may be deleted. The server has the
 * cluster's identity in its metadata, but is neither in the Pulumi state nor in a pending
 * operation. The state may be outdated or incomplete, so the server may be a working node. Pure.
 */

/**
 * Returns the name of the machine to which a port belongs, from the name of the port's resource.
 * Undefined for other resources.
 */
const machineOfPort = ({ urn, type }: StateResource): string | undefined =>
  type === "openstack:networking/port:Port"
    ? /^(.+?)-(?:admin-)?port$/.exec(parseUrn(urn).name)?.[1]
    : undefined;

/**
 * Returns the port IDs of machines for which the state has no script. Such a machine never joined a
 * cluster.
 */
export function findPortsWithoutScripts({ deployment }: StateExport): ReadonlySet<string> {
  const all = deployment.resources ?? [];
  const steps = all.filter(isScript).map(({ urn }) => parseUrn(urn).name);
  const ports = all.flatMap((port) => {
    const machine = machineOfPort(port);
    const reached = steps.some((step) => step.startsWith(`${machine ?? ""}-`));
    return machine === undefined || reached || port.id === undefined ? [] : [port.id];
  });
  return new Set(ports);
}

/** Facts about the stack and the project. */
export interface UnrecordedServerFacts {
  /**
   * Periods of failed runs that had finished before the state was written. The state has the
   * results of these runs. See {@link findFailedRunPeriods}.
   */
  readonly ended: readonly RunPeriod[];
  /** All objects in the project that the user may see. */
  readonly objects: readonly CloudObject[];
  /** IDs of the ports of machines without a script. See {@link findPortsWithoutScripts}. */
  readonly unreached: ReadonlySet<string>;
}

/**
 * Returns the periods of failed runs that had finished before the state was written, and from which
 * the state has resources. If the state is a restored older state, newer runs fulfil none of these
 * conditions.
 */
export function findFailedRunPeriods(
  state: StateExport,
  unsettled: readonly RunPeriod[],
): RunPeriod[] {
  const written = getStateWriteTime(state) ?? 0;
  const times = (state.deployment.resources ?? [])
    .flatMap(({ created, modified }) => [created, modified])
    .map((time) => Date.parse(time ?? ""));
  return unsettled.filter(
    ({ ended, from, to }) =>
      ended === true &&
      written >= to - clockTolerance &&
      times.some((time) => time >= from && time <= to + clockTolerance),
  );
}

/**
 * Determines whether the server was left behind. Returns `left behind` if all these conditions
 * hold: the state has all ports of the server, the state has no script of the machine, and the
 * server was created during one of the failed runs in `ended`.
 */
export function attributeUnrecordedServer(
  { id, created }: CloudObject,
  { ended, objects, unreached }: UnrecordedServerFacts,
): Attribution {
  const ports = objects.filter(({ kind, device }) => kind === "port" && device === id);
  if (ports.length === 0 || !ports.every((port) => unreached.has(port.id)))
    return createUnprovenAttribution("it is a machine that may be running");
  return attributeByTime(created, ended);
}
