import { readFileSync, readlinkSync } from "node:fs";
import { isSystemError } from "./failures/expected-errors.js";

/** Properties that distinguish a process from a later process with the same PID. */
export interface ProcessIdentity {
  /** ID of the process group. */
  readonly group: number;
  /** Start time in clock ticks after boot. */
  readonly started: string;
}

/**
 * Returns the properties of a process. Returns undefined if the process or the folder /proc does
 * not exist.
 */
export function readProcessIdentity(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid.toString()}/stat`, "utf8");
    // Field 2 is the process's name in parentheses, which may contain any character. The split
    // therefore begins with field 3, after the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { group: Number(fields[2]), started: fields[19] ?? "" };
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Scope in which a PID is unique: one boot of one machine, and one PID namespace. */
export interface PidScope {
  readonly boot: string;
  /** PID namespace. Each container has a separate PID namespace. */
  readonly namespace: string;
  /**
   * ID of the machine, which is the same after a reboot. Undefined if /etc/machine-id contains no
   * ID or cannot be read.
   */
  readonly machine?: string;
}

/**
 * Returns the scope in which this process's PID is unique. Returns undefined if the system does not
 * provide /proc.
 */
export function readPidScope(): PidScope | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const namespace = readlinkSync("/proc/self/ns/pid");
    const machine = machineId();
    return { boot, namespace, ...(machine !== undefined && { machine }) };
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the machine's ID. Returns undefined if /etc/machine-id is empty or contains
 * "uninitialized", as in an image.
 */
function machineId(): string | undefined {
  try {
    return /^[0-9a-f]{32}(?=\n?$)/.exec(readFileSync("/etc/machine-id", "utf8"))?.[0];
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** PID namespace outside containers. The number is a constant of the kernel. */
const outside = "pid:[4026531836]";

/**
 * Returns whether `there` is an earlier boot of this machine. No process of an earlier boot still
 * runs. Returns false in containers, because containers of one image have the same machine ID even
 * on different machines.
 */
export const isEarlierBoot = (there: PidScope, here: PidScope): boolean =>
  there.machine !== undefined &&
  there.machine === here.machine &&
  there.boot !== here.boot &&
  [there, here].every(({ namespace }) => namespace === outside);
