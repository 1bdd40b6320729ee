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
  /** Source packages whose binaries come from the release's backports. Default: none do. */
  readonly backports?: readonly string[];
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

/** Files for apt, by their paths on this host. */
interface AptFiles {
  /** Configuration. */
  readonly options: string;
  /** Preferences, which the tree keeps. Default: none. */
  readonly preferences?: string;
}

/** Lets apt prefer the backports of source packages: by default it takes none that it is not told to. */
const preferBackports = (sources: readonly string[], suite: string): string =>
  `Package: ${sources.map((name) => `src:${name}`).join(" ")}\nPin: release n=${suite}-backports\nPin-Priority: 990\n`;

/** Returns the arguments of mmdebstrap. */
export function bootstrapArguments(
  { folder, packages, suite = cloudSuite }: Pick<DebianTree, "folder" | "packages" | "suite">,
  mirrors: readonly string[],
  { options, preferences }: AptFiles,
): string[] {
  return [
    ...["--mode=root", "--variant=minbase", "--verbose", `--aptopt=${options}`],
    ...(preferences === undefined
      ? []
      : [`--setup-hook=upload ${preferences} /etc/apt/preferences.d/backports`]),
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
  const { suite = cloudSuite, backports = [], signal } = tree;
  const work = await mkdtemp(join(tmpdir(), "stackadm-apt-"));
  const beat = heartbeat(tree.step);
  try {
    const options = join(work, "apt.conf");
    const { stdout } = await run("apt-config", ["dump"]);
    await writeFile(options, aptAccess(stdout).join("\n") + "\n");
    const preferences = join(work, "preferences");
    await writeFile(preferences, preferBackports(backports, suite));
    const some = backports.length > 0;
    const mirrors = mirrorLines(await hostAptSources(), suite, { backports: some });
    const files = { options, ...(some && { preferences }) };
    await runContained("mmdebstrap", bootstrapArguments(tree, mirrors, files), {
      onLine: (line) => {
        const text = interesting(line);
        if (text !== undefined) beat.update(text);
      },
      ...(signal && { signal }),
    });
  } finally {
    beat.stop();
    await rm(work, { recursive: true, force: true });
  }
}
