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
}

/** Milliseconds between two looks. */
const interval = 15;
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

/** Which processes with this mark in their environment there are, until the promise is kept. */
export async function watchProcesses(mark: string, ended: Promise<unknown>): Promise<Seen[]> {
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
      const cpu = Math.max(cpuOf(pid), known?.cpu ?? 0);
      seen.set(pid, { what, from: known?.from ?? now, to: now, cpu });
    }
    await pause(interval);
  }
  return [...seen.values()];
}
