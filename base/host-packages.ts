import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { Failure } from "./failure.js";
import type { Progress } from "./progress.js";
import { withStep } from "./progress.js";
import { run } from "./run.js";

/** Commands, or files by their whole path, and the Debian packages they come from. */
export type CommandPackages = Readonly<Record<string, string>>;

/** The commands that are in no folder of PATH, and the files that are not there. */
export function missingCommands(
  wanted: CommandPackages,
  path: string,
  exists: (file: string) => boolean = existsSync,
): string[] {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return Object.keys(wanted).filter((command) =>
    isAbsolute(command)
      ? !exists(command)
      : !folders.some((folder) => exists(join(folder, command))),
  );
}

export interface InstallOptions {
  /** Aborting it ends apt-get. */
  readonly signal?: AbortSignal;
  /** Where commands are looked for. Default: PATH. */
  readonly path?: string;
}

/** Installs what is missing by apt-get where that is possible; elsewhere says what to install. */
export async function ensureCommands(
  wanted: CommandPackages,
  progress: Progress,
  { signal, path = process.env["PATH"] ?? "" }: InstallOptions = {},
): Promise<void> {
  const missing = missingCommands(wanted, path);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((command) => wanted[command] ?? command))];
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    throw new Failure(
      "TOOL_MISSING",
      `Missing on this machine: ${missing.join(", ")}.`,
      `Install ${packages.join(" ")} (on Debian: sudo apt-get install ${packages.join(" ")}).`,
    );
  await withStep(progress, `Install ${packages.join(", ")}`, 30, async (step) => {
    const apt = (...args: readonly string[]) =>
      run("apt-get", ["-y", "-o", "DPkg::Lock::Timeout=300", ...args], {
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
        onLine: step.update.bind(step),
        signal,
      });
    const install = () => apt("install", "--no-install-recommends", ...packages);
    try {
      await install();
    } catch {
      signal?.throwIfAborted();
      // The package lists may be old or missing: fetch them and try once more.
      await apt("update");
      await install();
    }
  });
}
