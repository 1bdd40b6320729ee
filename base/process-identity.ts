import { readFileSync, readlinkSync } from "node:fs";

/** Properties that distinguish a process from another process with the same PID. */
export interface ProcessFacts {
  /** ID of the process group. */
  readonly group: number;
  /** Start time in clock ticks after boot. */
  readonly started: string;
}

/**
 * Returns the properties of a process. Undefined if the process or the folder /proc does not exist.
 */
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

/** Scope in which a PID is unique: one boot of one machine, and one PID namespace. */
export interface ProcessPlace {
  readonly boot: string;
  /** PID namespace, which differs between containers. */
  readonly namespace: string;
  /**
   * ID of the machine, which a reboot does not change. Undefined if /etc/machine-id cannot be read
   * or contains no ID.
   */
  readonly machine?: string;
}

/** Returns the scope of this process's PID; undefined if it cannot be determined. */
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

/**
 * Returns the machine's ID; undefined if /etc/machine-id is empty or "uninitialized", as in an
 * image.
 */
function machineId(): string | undefined {
  try {
    return /^[0-9a-f]{32}(?=\n?$)/.exec(readFileSync("/etc/machine-id", "utf8"))?.[0];
  } catch {
    return undefined;
  }
}

/** PID namespace outside containers. The number is a constant of the kernel. */
const outside = "pid:[4026531836]";

/**
 * Returns whether `there` is an earlier boot of this machine, so that no process of that boot still
 * runs. Returns false in containers: containers of one image have the same machine ID on every
 * machine.
 */
export const isEarlierBoot = (there: ProcessPlace, here: ProcessPlace): boolean =>
  there.machine !== undefined &&
  there.machine === here.machine &&
  there.boot !== here.boot &&
  [there, here].every(({ namespace }) => namespace === outside);
