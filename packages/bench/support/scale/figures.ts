import type { CommandRun } from "../installation.js";
import type { Figures } from "../statistics.js";

/** Patterns that match the command lines of the processes of each part. */
const parts = {
  engine: /pulumi (up|preview) /,
  program: /engine\/worker/,
  "command line": /cli\/(stackadm|start)/,
  "OpenStack plugin": /pulumi-resource-openstack/,
  "command plugin": /command\/main\.js|pulumi-resource-command/,
  "Kubernetes plugin": /kubernetes\/main\.js|pulumi-resource-kubernetes/,
} as const;
type Part = keyof typeof parts;

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/**
 * Returns the time, CPU time (ms) and memory (kB) of a run, in total and per machine. For a figure
 * per machine, a ratio of 1 to the first column means linear growth.
 */
export function getScaleFigures({ wall, processes }: CommandRun, machines: number): Figures {
  const of = (part: Part) => processes.filter(({ what }) => parts[part].test(what));
  const cpu = (part: Part): number => sum(of(part).map((one) => one.cpu));
  const peak = (part: Part): number => Math.max(0, ...of(part).map((one) => one.peak));
  const names = Object.keys(parts) as Part[];
  const core = cpu("engine") + cpu("program");
  const [, atOnce] = /--parallel (\d+)/.exec(of("engine")[0]?.what ?? "") ?? [];
  return {
    "resources at once": Number(atOnce ?? NaN),
    "wall, s": wall / 1000,
    "CPU of all, s": sum(processes.map((one) => one.cpu)) / 1000,
    ...Object.fromEntries(names.map((part) => [`CPU of ${part}, s`, cpu(part) / 1000])),
    "memory of program, MB": peak("program") / 1024,
    "memory of command line, MB": peak("command line") / 1024,
    "memory of engine, MB": peak("engine") / 1024,
    "memory of OpenStack plugin, MB": peak("OpenStack plugin") / 1024,
    "memory of command plugin, MB": peak("command plugin") / 1024,
    "wall a machine, ms": wall / machines,
    "CPU of all a machine, ms": sum(processes.map((one) => one.cpu)) / machines,
    "CPU of engine and program a machine, ms": core / machines,
    ...Object.fromEntries(
      names.map((part) => [`CPU of ${part} a machine, ms`, cpu(part) / machines]),
    ),
  };
}

/**
 * Patterns of the compared tools' processes: `core` calculates the changes and keeps the state,
 * `plugins` call the APIs.
 */
const roles = {
  core: /pulumi (up|preview) |engine\/worker|cli\/(stackadm|start)|terraform[-\w.]* apply/,
  plugins: /pulumi-resource-|(command|kubernetes)\/main\.js|terraform-provider/,
} as const;

/** Returns the time, CPU time and memory of a run of Terraform or of the command line. */
export function getFiguresOfComparedTool({ wall, processes }: CommandRun): Figures {
  const of = (role: keyof typeof roles) => processes.filter(({ what }) => roles[role].test(what));
  const cpu = (those: CommandRun["processes"]): number => sum(those.map((one) => one.cpu)) / 1000;
  return {
    "wall, s": wall / 1000,
    "CPU of all, s": cpu(processes),
    "CPU of core, s": cpu(of("core")),
    "CPU of plugins, s": cpu(of("plugins")),
    "memory of core, MB": sum(of("core").map((one) => one.peak)) / 1024,
  };
}
