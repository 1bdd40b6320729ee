import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { Failure } from "./failures/failure.js";
import type { Progress } from "./progress.js";
import { withStep } from "./progress.js";
import { run } from "./run-command.js";

/**
 * Debian package that provides each command. A key is the name of a command or the absolute path of
 * a file.
 */
export type CommandPackages = Readonly<Record<string, string>>;

/**
 * Returns the commands that no folder of `path` contains. Also returns the absolute paths of files
 * that do not exist.
 */
export function findMissingCommands(
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

export interface EnsureCommandsOptions {
  /** Signal to stop apt-get. */
  readonly signal?: AbortSignal;
  /** Folders that are searched for commands, separated like in PATH. Default: PATH. */
  readonly path?: string;
}

/** Time limit in milliseconds for one call of apt-get. */
const aptMilliseconds = 30 * 60_000;

/**
 * Installs the packages of missing commands with apt-get. Throws an error that names the packages
 * if the user is not root or the host has no apt-get.
 */
export async function ensureCommands(
  wanted: CommandPackages,
  progress: Progress,
  { signal, path = process.env["PATH"] ?? "" }: EnsureCommandsOptions = {},
): Promise<void> {
  const missing = findMissingCommands(wanted, path);
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
        timeout: aptMilliseconds,
        signal,
      });
    const install = () => apt("install", "--no-install-recommends", ...packages);
    try {
      await install();
    } catch {
      signal?.throwIfAborted();
      // The package lists may be outdated or missing, so they are updated before the second try.
      await apt("update");
      await install();
    }
  });
}
