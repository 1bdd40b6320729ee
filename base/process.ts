import { readFileSync, readlinkSync } from "node:fs";

/** Properties that distinguish a process from another one with the same PID. */
export interface ProcessFacts {
  /** ID of the process group. */
  readonly group: number;
  /** Start time in clock ticks after boot. */
  readonly started: string;
}

/** Returns the properties of a process; undefined if it does not exist. */
export function processFacts(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid.toString()}/stat`, "utf8");
    // The process's name stands in parentheses and may contain anything; fields 3 and following
    // come after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { group: Number(fields[2]), started: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

/** Place in which a PID is unique: one boot of one machine, one container. */
export interface ProcessPlace {
  readonly boot: string;
  /** PID namespace, which differs between containers. */
  readonly namespace: string;
  /**
   * ID of the machine, which is the same after a reboot. Undefined if there is none, or it cannot
   * be read.
   */
  readonly machine?: string;
}

/** Returns the place of this process; undefined if it cannot be determined. */
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

/** Returns the machine's ID; undefined if it is empty or "uninitialized", as in an image. */
function machineId(): string | undefined {
  try {
    return /^[0-9a-f]{32}(?=\n?$)/.exec(readFileSync("/etc/machine-id", "utf8"))?.[0];
  } catch {
    return undefined;
  }
}

/** PID namespace outside containers, a constant of the kernel. */
const outside = "pid:[4026531836]";

/**
 * Returns whether `there` is an earlier boot of this machine, so that none of its processes still
 * runs. Only outside containers, because containers of one image have the same machine ID on every
 * machine.
 */
export const isEarlierBoot = (there: ProcessPlace, here: ProcessPlace): boolean =>
  there.machine !== undefined &&
  there.machine === here.machine &&
  there.boot !== here.boot &&
  [there, here].every(({ namespace }) => namespace === outside);
