import type { CommandRun } from "./installation.js";
import type { WatchedProcess } from "./process-watch.js";
import type { Figures } from "./statistics.js";

const isEngine = ({ what }: WatchedProcess): boolean => /pulumi (up|preview|destroy) /.test(what);
const isCommandLine = ({ what }: WatchedProcess): boolean => /\/pulumi \w/.test(what);

/** Plugins in the order in which an operation needs them. */
const plugins = {
  "OpenStack plugin": /pulumi-resource-openstack/,
  "command plugin": /command\/main\.js|pulumi-resource-command/,
  "Kubernetes plugin": /kubernetes\/main\.js|pulumi-resource-kubernetes/,
} as const;

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/**
 * Returns the figures of one `up` or `preview`. Each figure is in milliseconds, unless its name
 * shows that it is a count.
 */
export function getRunFigures({ wall, processes }: CommandRun, cloudCalls: number): Figures {
  const find = (pattern: RegExp): WatchedProcess | undefined =>
    processes.find(({ what }) => pattern.test(what));
  const cpuOf = (mine: (one: WatchedProcess) => boolean): number =>
    sum(processes.filter(mine).map(({ cpu }) => cpu));
  const worker = find(/engine\/worker/);
  const engine = processes.find(isEngine);
  if (!worker || !engine) throw new Error("There was no engine.");
  const others = processes.filter((one) => isCommandLine(one) && one !== engine);
  const starts = Object.entries(plugins).map(([name, pattern]) => [name, find(pattern)] as const);
  return {
    "all of it": wall,
    "until the worker starts": worker.from,
    "until the engine starts": engine.from,
    ...Object.fromEntries(
      starts.map(([name, one]) => [`until the ${name} starts`, one?.from ?? 0]),
    ),
    "until the engine ends": engine.to,
    "CPU of all": cpuOf(() => true),
    "CPU of the command line": cpuOf(({ what }) => /cli\/stackadm/.test(what)),
    "CPU of the worker": worker.cpu,
    "CPU of the engine": engine.cpu,
    ...Object.fromEntries(starts.map(([name, one]) => [`CPU of the ${name}`, one?.cpu ?? 0])),
    "CPU of other calls of pulumi": sum(others.map(({ cpu }) => cpu)),
    "number of other calls of pulumi": others.length,
    "number of requests to the cloud": cloudCalls,
  };
}
