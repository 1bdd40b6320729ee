import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Progress } from "./progress.js";
import { withStep } from "./progress.js";
import { run } from "./run.js";
import { Failure } from "./failure.js";

/** Commands and the Debian packages they come from. */
export type CommandPackages = Readonly<Record<string, string>>;

/** The commands that are in no folder of PATH. */
export function missingCommands(
  wanted: CommandPackages,
  path: string,
  exists: (file: string) => boolean = existsSync,
): string[] {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return Object.keys(wanted).filter(
    (command) => !folders.some((folder) => exists(join(folder, command))),
  );
}

const lastWords = (text: string): string => text.trim().slice(0, 100);

async function apt(args: readonly string[], onLine: (line: string) => void): Promise<void> {
  await run("apt-get", ["-y", "-qq", "-o", "DPkg::Lock::Timeout=300", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    onLine,
  });
}

/** Installs what is missing by apt-get where that is possible; elsewhere says what to install. */
export async function ensureCommands(wanted: CommandPackages, progress: Progress): Promise<void> {
  const missing = missingCommands(wanted, process.env["PATH"] ?? "");
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((command) => wanted[command] ?? command))];
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    throw new Failure(
      "TOOL_MISSING",
      `Missing on this machine: ${missing.join(", ")}.`,
      `Install ${packages.join(" ")} (on Debian: sudo apt-get install ${packages.join(" ")}).`,
    );
  await withStep(progress, `Install ${packages.join(", ")}`, 30, async (step) => {
    const show = (line: string): void => {
      step.update(lastWords(line));
    };
    const install = ["install", "--no-install-recommends", ...packages];
    try {
      await apt(install, show);
    } catch {
      // The package lists may be old or missing: fetch them and try once more.
      await apt(["update"], show);
      await apt(install, show);
    }
  });
}
