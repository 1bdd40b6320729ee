import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/**
 * Process that a command started. Times are milliseconds since the command's start. Their precision
 * is the interval between two reads of the process list.
 */
export interface WatchedProcess {
  /** Command line of the process. Paths are shortened to their last two parts. */
  readonly what: string;
  readonly from: number;
  readonly to: number;
  /** CPU time of the process itself, in milliseconds. */
  readonly cpu: number;
  /** Peak memory in kB. */
  readonly peak: number;
}

/** Interval between two reads of the process list, in milliseconds. */
const often = 15;
/** Milliseconds in one unit of CPU time. Every Linux counts 100 units a second. */
const tick = 10;

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process ended meanwhile
  }
}

const nameOf = (pid: string): string =>
  read(`/proc/${pid}/cmdline`)
    .split("\0")
    .filter(Boolean)
    .map((word) => word.split("/").slice(-2).join("/"))
    .join(" ");

function cpuOf(pid: string): number {
  // Reads the fields after the process name. The name is in brackets and may contain any character.
  const fields = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tick;
}

const peakOf = (pid: string): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);

/**
 * Returns the processes that had the mark in their environment. Records processes until the promise
 * settles. Misses processes that are shorter than the interval, and the last moments of each
 * process.
 *
 * @param interval milliseconds between two reads
 */
export async function watchProcesses(
  mark: string,
  ended: Promise<unknown>,
  interval = often,
): Promise<WatchedProcess[]> {
  const since = performance.now();
  const seen = new Map<string, WatchedProcess>();
  const foreign = new Map<string, string>();
  const over = new AbortController();
  const stop = (): void => {
    over.abort();
  };
  ended.then(stop, stop);
  while (!over.signal.aborted) {
    for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      const what = nameOf(pid);
      // A child process first has the command line of its parent (fork) and gets its own later
      // (exec).
      if (what === "" || foreign.get(pid) === what) continue;
      const known = seen.get(pid);
      if (!known && !read(`/proc/${pid}/environ`).includes(mark)) {
        foreign.set(pid, what);
        continue;
      }
      const now = Math.round(performance.now() - since);
      const { from, ...before } = known ?? { from: now, cpu: 0, peak: 0 };
      const cpu = Math.max(cpuOf(pid), before.cpu);
      const peak = Math.max(peakOf(pid), before.peak);
      seen.set(pid, { what, from, to: now, cpu, peak });
    }
    await pause(interval);
  }
  return [...seen.values()];
}
