import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { join } from "node:path";
import { isSystemError } from "./failures/expected-errors.js";

/** Properties that distinguish a process from a later process with the same PID. */
export interface ProcessIdentity {
  /** ID of the process group. */
  readonly group: number;
  /** Start time in clock ticks after boot. */
  readonly started: string;
}

/** Content of `/proc/<pid>/stat`. */
interface ProcessStat {
  readonly name: string;
  /** Fields after the name. The first one is field 3, the state of the process. */
  readonly fields: readonly string[];
}

/**
 * Returns the content of `/proc/<pid>/stat`. Returns undefined for a process that has ended, but
 * still has an entry. Its parent removes the entry by reading the exit code. In a container, the
 * first process may never do this for processes that it did not start.
 */
function readProcessStat(pid: number, proc = "/proc"): ProcessStat | undefined {
  const stat = readFileSync(join(proc, pid.toString(), "stat"), "utf8");
  // Field 2 is the process's name in parentheses, which may contain any character.
  const [begin, end] = [stat.indexOf("("), stat.lastIndexOf(")")];
  const fields = stat.slice(end + 2).split(" ");
  const hasEnded = /^[ZXx]$/.test(fields[0] ?? "");
  return hasEnded ? undefined : { name: stat.slice(begin + 1, end), fields };
}

/**
 * Returns the properties of a process. Returns undefined if the process has ended, or if the folder
 * /proc does not exist.
 */
export function readProcessIdentity(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readProcessStat(pid);
    return stat && { group: Number(stat.fields[2]), started: stat.fields[19] ?? "" };
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the name of a process, or the path of its program on systems without /proc. Returns
 * undefined if the process has ended.
 */
export function readProcessName(pid: number, proc = "/proc"): string | undefined {
  try {
    if (existsSync(join(proc, "self"))) return readProcessStat(pid, proc)?.name;
    const words = ["-o", "comm=", "-p", pid.toString()];
    return execFileSync("ps", words, { encoding: "utf8", timeout: 10_000, stdio: "pipe" }).trim();
  } catch (error) {
    // `ps` exits with 1 if the process does not exist.
    if (isSystemError(error) || (error as { status?: unknown }).status === 1) return undefined;
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
 * provide /proc, for example on macOS, or if /proc shows the processes of another PID namespace.
 */
export function readPidScope(): PidScope | undefined {
  try {
    if (readlinkSync("/proc/self") !== process.pid.toString()) return undefined;
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
const isEarlierBoot = (there: PidScope, here: PidScope): boolean =>
  there.machine !== undefined &&
  there.machine === here.machine &&
  there.boot !== here.boot &&
  [there, here].every(({ namespace }) => namespace === outside);

/** Process of any machine, as recorded in a file that several machines and containers may share. */
export interface ProcessReference {
  readonly pid: number;
  /** Start time of the process, in clock ticks after boot. */
  readonly started: string;
  readonly host: string;
  /** Time at which the process was recorded, in milliseconds since 1970. */
  readonly at: number;
  /** Scope of the PID. Undefined on systems without /proc. */
  readonly place?: PidScope | undefined;
}

/** Returns a reference to the process with this PID. Undefined without /proc or the process. */
export function referTo(pid: number): ProcessReference | undefined {
  const [facts, place] = [readProcessIdentity(pid), readPidScope()];
  if (!facts || !place) return undefined;
  return { pid, started: facts.started, host: hostname(), at: Date.now(), place };
}

/** Returns a reference to this process, also on systems without /proc. */
export const referToSelf = (): ProcessReference =>
  referTo(process.pid) ?? { pid: process.pid, started: "", host: hostname(), at: Date.now() };

/** Host and scope from which a process checks whether another process has ended. */
export interface ObservationPlace {
  readonly place: PidScope | undefined;
  readonly host: string;
  /** Boot time of this machine, in milliseconds since 1970. */
  readonly booted: number;
}

export const currentPlace = (): ObservationPlace => ({
  place: readPidScope(),
  host: hostname(),
  booted: Date.now() - uptime() * 1_000,
});

/** Returns whether the process belongs to this boot of this machine and to this PID namespace. */
export const isInSamePlace = (
  { host, place }: ProcessReference,
  here: ObservationPlace = currentPlace(),
): boolean =>
  place !== undefined &&
  place.boot === here.place?.boot &&
  place.namespace === here.place.namespace &&
  host === here.host;

/**
 * Returns whether a recorded process runs. A PID says nothing about a process of another host or of
 * another PID namespace, so the result for such a process is "unknown". The result is "dead" if the
 * PID does not exist, if the PID belongs to another process, or if the machine was rebooted.
 */
export function checkProcess(
  process: ProcessReference,
  here: ObservationPlace = currentPlace(),
): "alive" | "dead" | "unknown" {
  if (isInSamePlace(process, here))
    return readProcessIdentity(process.pid)?.started === process.started ? "alive" : "dead";
  // Copies of a virtual machine may have the same machine ID. But two copies do not have both the
  // same name and the same boot time.
  return here.place !== undefined &&
    process.place !== undefined &&
    isEarlierBoot(process.place, here.place) &&
    process.host === here.host &&
    process.at < here.booted
    ? "dead"
    : "unknown";
}
