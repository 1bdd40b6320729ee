import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../base/run.js";
import type { Step } from "../../base/progress.js";
import { suite as cloudSuite } from "../packages.js";
import { heartbeat } from "../kubernetes/heartbeat.js";
import { runContained } from "./contained.js";
import { aptAccess, hostAptSources, mirrorLines } from "./packages.js";

export interface DebianTree {
  /** An existing empty folder. */
  readonly folder: string;
  readonly packages: readonly string[];
  /** Release of Debian. Default: the cloud's. */
  readonly suite?: string;
  readonly step: Step;
  readonly signal?: AbortSignal;
}

/** What no program in the lab reads: a third of the files. */
const excluded = [
  "/usr/share/man/*",
  "/usr/share/doc/*/*",
  "/usr/share/locale/*",
  "/usr/share/info/*",
];

/** Arguments of mmdebstrap. `options` names an apt configuration file. */
export function bootstrapArguments(
  { folder, packages, suite = cloudSuite }: Pick<DebianTree, "folder" | "packages" | "suite">,
  mirrors: readonly string[],
  options: string,
): string[] {
  return [
    ...["--mode=root", "--variant=minbase", "--verbose", `--aptopt=${options}`],
    ...excluded.map((path) => `--dpkgopt=path-exclude=${path}`),
    // The store is a cache: nothing is lost with an unfinished tree.
    "--dpkgopt=force-unsafe-io",
    `--include=${packages.join(",")}`,
    ...[suite, folder, ...mirrors],
  ];
}

/** What mmdebstrap, apt and dpkg print that tells a person something. */
export function interesting(line: string): string | undefined {
  const text = line.trim();
  if (/^(Get:\d+|Setting up|Unpacking|Selecting|I:)/.test(text)) {
    return text.replace(/^(Get:\d+) \S+ \S+ \S+ /, "download ").slice(0, 100);
  }
  return undefined;
}

/** Fills a folder with a minimal Debian and the packages, from the mirrors the host's own apt uses. */
export async function debianTree(tree: DebianTree): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "stackadm-apt-"));
  const beat = heartbeat(tree.step);
  try {
    const options = join(work, "apt.conf");
    const { stdout } = await run("apt-config", ["dump"]);
    await writeFile(options, aptAccess(stdout).join("\n") + "\n");
    const mirrors = mirrorLines(await hostAptSources(), tree.suite ?? cloudSuite);
    await runContained("mmdebstrap", bootstrapArguments(tree, mirrors, options), {
      onLine: (line) => {
        const text = interesting(line);
        if (text !== undefined) beat.update(text);
      },
      ...(tree.signal && { signal: tree.signal }),
    });
  } finally {
    beat.stop();
    await rm(work, { recursive: true, force: true });
  }
}
