import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** A process that a command started. Times are milliseconds since the command began, as far as a look every few shows them. */
export interface Seen {
  /** Its command line, without the folders of the files in it. */
  readonly what: string;
  readonly from: number;
  readonly to: number;
  /** CPU time of its own, in milliseconds. */
  readonly cpu: number;
  /** The most memory that it had at once, in kB. */
  readonly peak: number;
}

/** Milliseconds between two looks. */
const often = 15;
/** Milliseconds in a unit of CPU time: 100 of them a second on every Linux. */
const tick = 10;

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // it ended while we looked
  }
}

const nameOf = (pid: string): string =>
  read(`/proc/${pid}/cmdline`)
    .split("\0")
    .filter(Boolean)
    .map((word) => word.split("/").slice(-2).join("/"))
    .join(" ");

function cpuOf(pid: string): number {
  // Behind the name in brackets, which may hold anything.
  const fields = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tick;
}

const peakOf = (pid: string): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);

/**
 * Which processes with this mark in their environment there are, until the promise is kept.
 *
 * @param interval milliseconds between two looks: of what is shorter, and of the end of each process, nothing is seen
 */
export async function watchProcesses(
  mark: string,
  ended: Promise<unknown>,
  interval = often,
): Promise<Seen[]> {
  const since = performance.now();
  const seen = new Map<string, Seen>();
  const foreign = new Map<string, string>();
  const over = new AbortController();
  const stop = (): void => {
    over.abort();
  };
  ended.then(stop, stop);
  while (!over.signal.aborted) {
    for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      const what = nameOf(pid);
      // A process may begin as a copy of another and become what it is then.
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
