import { readdirSync, readFileSync } from "node:fs";

/** Process ids of the Pulumi engines that work on a stack. */
export function enginesOf(stack: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => isEngine(commandLine(pid), stack))
    .map(Number);
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
    return []; // ended meanwhile
  }
}
