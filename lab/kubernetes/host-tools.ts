import { existsSync } from "node:fs";
import { join } from "node:path";
import { withStep, type Progress } from "../../base/progress.js";
import { run } from "../../base/run.js";
import { UserError } from "../../base/user-error.js";

/** A file that shows a tool to be there (a command on PATH, or an absolute path), and the Debian package it comes from. */
export const buildTools: Readonly<Record<string, string>> = {
  gcc: "gcc",
  "/usr/include/stdio.h": "libc6-dev",
  gpg: "gnupg",
  "dpkg-deb": "dpkg",
  mmdebstrap: "mmdebstrap",
  tar: "tar",
};

/** The same for what fetches images as they are. */
export const mirrorTools: typeof buildTools = { skopeo: "skopeo" };

/** Packages of tools that are not on this host. */
export function missingTools(
  tools: typeof buildTools,
  path: string,
  exists: (file: string) => boolean,
): string[] {
  const folders = path.split(":").filter((folder) => folder !== "");
  const there = (tool: string) =>
    tool.startsWith("/") ? exists(tool) : folders.some((folder) => exists(join(folder, tool)));
  return Object.entries(tools)
    .filter(([tool]) => !there(tool))
    .map(([, name]) => name);
}

/** Installs missing build tools. */
export const ensureBuildTools = (progress: Progress, signal?: AbortSignal): Promise<void> =>
  ensureTools("Building Kubernetes for the lab", buildTools, progress, signal);

/** Installs missing tools by apt-get as root on Debian; elsewhere names them in a UserError. */
export async function ensureTools(
  purpose: string,
  tools: typeof buildTools,
  progress: Progress,
  signal?: AbortSignal,
): Promise<void> {
  const wanted = missingTools(tools, process.env["PATH"] ?? "", existsSync);
  if (wanted.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new UserError(
      `${purpose} needs the packages ${wanted.join(", ")} on this host.`,
      "Install them with the package manager (on Debian as root the lab does it itself).",
    );
  }
  await withStep(progress, `Install ${wanted.join(", ")}`, 30, async (step) => {
    const options = {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      onLine: step.update.bind(step),
      signal,
    };
    const patience = ["-o", "DPkg::Lock::Timeout=300"];
    await run("apt-get", [...patience, "update"], options);
    const install = ["install", "--yes", "--no-install-recommends", ...wanted];
    await run("apt-get", [...patience, ...install], options);
  });
}
