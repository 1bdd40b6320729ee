import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../base/run-command.js";
import type { Step } from "../../../base/progress.js";
import { debianSuite as cloudSuite } from "../cloud-debian-packages.js";
import { startHeartbeat } from "../kubernetes/heartbeat.js";
import { runInLinuxNamespaces } from "./run-in-linux-namespaces.js";
import { parseAptAccessSettings, readHostAptSources, renderAptSourceLines } from "./packages.js";

export interface DebianTreeOptions {
  /** Existing empty folder. */
  readonly folder: string;
  readonly packages: readonly string[];
  /** Source packages whose binaries come from the release's backports. @default none */
  readonly backports?: readonly string[];
  /** Release of Debian. @default the cloud's */
  readonly suite?: string;
  readonly step: Step;
  readonly signal?: AbortSignal;
}

/** Paths that no program in the lab reads: a third of the files. */
const excluded = [
  "/usr/share/man/*",
  "/usr/share/doc/*/*",
  "/usr/share/locale/*",
  "/usr/share/info/*",
];

/** Paths of apt's files on this host. */
interface AptFiles {
  /** File with apt's configuration. */
  readonly options: string;
  /** File with apt's preferences, which is copied into the tree. @default none */
  readonly preferences?: string;
}

/**
 * Returns apt preferences that select backports for these source packages. By default, apt does not
 * select backports.
 */
const preferBackports = (sources: readonly string[], suite: string): string =>
  `Package: ${sources.map((name) => `src:${name}`).join(" ")}\nPin: release n=${suite}-backports\nPin-Priority: 990\n`;

/** Returns the arguments of mmdebstrap. */
export function getMmdebstrapArguments(
  {
    folder,
    packages,
    suite = cloudSuite,
  }: Pick<DebianTreeOptions, "folder" | "packages" | "suite">,
  mirrors: readonly string[],
  { options, preferences }: AptFiles,
): string[] {
  return [
    ...["--mode=root", "--variant=minbase", "--verbose", `--aptopt=${options}`],
    ...(preferences === undefined
      ? []
      : [`--setup-hook=upload ${preferences} /etc/apt/preferences.d/backports`]),
    ...excluded.map((path) => `--dpkgopt=path-exclude=${path}`),
    // Makes dpkg skip syncs to the disk, because an unfinished tree is discarded.
    "--dpkgopt=force-unsafe-io",
    `--include=${packages.join(",")}`,
    ...[suite, folder, ...mirrors],
  ];
}

/**
 * Returns a shortened line of mmdebstrap, apt or dpkg if it shows progress. Otherwise returns
 * undefined.
 */
export function parseProgressLine(line: string): string | undefined {
  const text = line.trim();
  if (/^(Get:\d+|Setting up|Unpacking|Selecting|I:)/.test(text)) {
    return text.replace(/^(Get:\d+) \S+ \S+ \S+ /, "download ").slice(0, 100);
  }
  return undefined;
}

/** Writes apt's files into a folder and returns their paths. */
async function writeAptFiles(folder: string, preferences: string | undefined): Promise<AptFiles> {
  const options = join(folder, "apt.conf");
  const { stdout } = await run("apt-config", ["dump"]);
  await writeFile(options, parseAptAccessSettings(stdout).join("\n") + "\n");
  if (preferences === undefined) return { options };
  const file = join(folder, "preferences");
  await writeFile(file, preferences);
  return { options, preferences: file };
}

/**
 * Runs mmdebstrap. Returns "no backports" if the mirror has no backports, and throws on any other
 * failure.
 */
async function bootstrap(
  tree: DebianTreeOptions,
  onLine: (line: string) => void,
): Promise<"built" | "no backports"> {
  const { suite = cloudSuite, backports = [], signal } = tree;
  const some = backports.length > 0;
  const missing = new RegExp(`${suite}-backports .*does not have a Release file`);
  const absent: string[] = [];
  const work = await mkdtemp(join(tmpdir(), "stackadm-apt-"));
  try {
    const files = await writeAptFiles(work, some ? preferBackports(backports, suite) : undefined);
    const mirrors = renderAptSourceLines(await readHostAptSources(), suite, { backports: some });
    await runInLinuxNamespaces("mmdebstrap", getMmdebstrapArguments(tree, mirrors, files), {
      onLine: (line) => {
        if (some && missing.test(line)) absent.push(line);
        onLine(line);
      },
      ...(signal && { signal }),
    });
    return "built";
  } catch (error) {
    if (absent.length === 0) throw error;
    return "no backports";
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Fills a folder with a minimal Debian and the packages, from the mirrors of the host's own apt. If
 * the mirror no longer has backports for the release, uses the release's own packages.
 */
export async function buildDebianTree(tree: DebianTreeOptions): Promise<void> {
  const beat = startHeartbeat(tree.step);
  const onLine = (line: string): void => {
    const text = parseProgressLine(line);
    if (text !== undefined) beat.update(text);
  };
  try {
    if ((await bootstrap(tree, onLine)) === "built") return;
    beat.update("the mirror has no backports; taking the release's own packages");
    const left = await readdir(tree.folder);
    await Promise.all(
      left.map((name) => rm(join(tree.folder, name), { recursive: true, force: true })),
    );
    await bootstrap({ ...tree, backports: [] }, onLine);
  } finally {
    beat.stop();
  }
}
