import { readdirSync, readFileSync } from "node:fs";

/** Returns the process IDs of Pulumi engines that work on a stack. */
export function enginesOf(stack: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => isEngine(commandLine(pid), stack))
    .map(Number);
}

/**
 * Returns the process IDs of the worker processes that this process has started. Each operation has
 * one worker process.
 */
export function workersOf(parent = process.pid): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => parentOf(pid) === parent && commandLine(pid).some(isWorker))
    .map(Number);
}

const isWorker = (word: string): boolean => /\/automation\/engine\/worker\.(ts|js)$/.test(word);

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined; // the process has ended
  }
}

function isEngine(words: readonly string[], stack: string): boolean {
  const [program = ""] = words;
  return (
    program.endsWith("pulumi") && words.includes("up") && words.some((word) => word.endsWith(stack))
  );
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return []; // the process has ended
  }
}
