import { readFileSync, readlinkSync } from "node:fs";

/** What tells a process from another one of the same number. */
export interface ProcessFacts {
  /** Number of its group. */
  readonly group: number;
  /** When it started, in clock ticks after boot. */
  readonly started: string;
}

/** Undefined when there is no such process. */
export function processFacts(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid.toString()}/stat`, "utf8");
    // Its name stands in brackets and may hold anything; what follows are fields 3 and on.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { group: Number(fields[2]), started: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

/**
 * Where numbers of processes mean what they mean here: this boot of this machine, this container. Undefined where it cannot be
 * told.
 */
export function processPlace(): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}
