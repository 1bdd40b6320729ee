import type { CloudObject } from "../../cloud/inventory.js";
import { slack, writtenAt, type Stretch } from "./earlier-runs.js";
import { unproven, verdictByTime, type Verdict } from "./leftovers.js";
import type { StateExport, StateResource } from "./state.js";
import { isScript } from "./unfinished.js";
import { parseUrn } from "./urn.js";

/*
 * Whose is a server that the state does not hold, nor any record? It may be at work in a cluster of which the state is an old one, or has
 * lost it. Pure.
 */

/** The machine whose port it is, by the name of its resource; undefined where it is none's. */
const machineOfPort = ({ urn, type }: StateResource): string | undefined =>
  type === "openstack:networking/port:Port"
    ? /^(.+?)-(?:admin-)?port$/.exec(parseUrn(urn).name)?.[1]
    : undefined;

/** IDs of the ports of machines on which the state knows of no script: none of them was ever part of a cluster. */
export function unreachedIn({ deployment }: StateExport): ReadonlySet<string> {
  const all = deployment.resources ?? [];
  const steps = all.filter(isScript).map(({ urn }) => parseUrn(urn).name);
  const ports = all.flatMap((port) => {
    const machine = machineOfPort(port);
    const reached = steps.some((step) => step.startsWith(`${machine ?? ""}-`));
    return machine === undefined || reached || port.id === undefined ? [] : [port.id];
  });
  return new Set(ports);
}

/** What is known of the stack and the project. */
export interface LostServerFacts {
  /** Runs that came to their end before the state was written: it has what they knew. See {@link endedBefore}. */
  readonly ended: readonly Stretch[];
  /** All that is in the project, as far as it is shown. */
  readonly objects: readonly CloudObject[];
  /** See {@link unreachedIn}. */
  readonly unreached: ReadonlySet<string>;
}

/**
 * The runs that came to their end and failed of which the state has something, and which had ended when it was written. An older
 * state that was brought back has neither.
 */
export function endedBefore(state: StateExport, unsettled: readonly Stretch[]): Stretch[] {
  const written = writtenAt(state) ?? 0;
  const times = (state.deployment.resources ?? [])
    .flatMap(({ created, modified }) => [created, modified])
    .map((time) => Date.parse(time ?? ""));
  return unsettled.filter(
    ({ ended, from, to }) =>
      ended === true &&
      written >= to - slack &&
      times.some((time) => time >= from && time <= to + slack),
  );
}

/**
 * It was left behind if the state holds its ports, and no script was begun on that machine; and if it was made while a run was at work that
 * came to its end and failed, than which the state is no older: that run did not know of it.
 */
export function verdictOnLostServer(
  { id, created }: CloudObject,
  { ended, objects, unreached }: LostServerFacts,
): Verdict {
  const ports = objects.filter(({ kind, device }) => kind === "port" && device === id);
  if (ports.length === 0 || !ports.every((port) => unreached.has(port.id)))
    return unproven("it is a machine, and may be at work");
  return verdictByTime(created, ended);
}
