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

/** Where numbers of processes mean what they mean here: this boot of this machine, this container. */
export interface ProcessPlace {
  readonly boot: string;
  /** The namespace of the numbers: another one in another container. */
  readonly namespace: string;
  /** By which the machine is known again after a boot. Absent: it has no such ID, or none that can be read. */
  readonly machine?: string;
}

/** Undefined where it cannot be told. */
export function processPlace(): ProcessPlace | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const namespace = readlinkSync("/proc/self/ns/pid");
    const machine = machineId();
    return { boot, namespace, ...(machine !== undefined && { machine }) };
  } catch {
    return undefined;
  }
}

/** In an image it is empty or says "uninitialized". */
function machineId(): string | undefined {
  try {
    return /^[0-9a-f]{32}(?=\n?$)/.exec(readFileSync("/etc/machine-id", "utf8"))?.[0];
  } catch {
    return undefined;
  }
}

/** The namespace of all that is in no container; a constant of the kernel. */
const outside = "pid:[4026531836]";

/**
 * Whether that place is this machine before it was booted, so that nothing runs there any more. Only outside of containers: those
 * of one image have one ID on whatever machine.
 */
export const isEarlierBoot = (there: ProcessPlace, here: ProcessPlace): boolean =>
  there.machine !== undefined &&
  there.machine === here.machine &&
  there.boot !== here.boot &&
  [there, here].every(({ namespace }) => namespace === outside);
