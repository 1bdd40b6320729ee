import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { run } from "../../base/run.js";
import { UserError } from "../../base/user-error.js";
import { withStep, type Progress } from "../../base/progress.js";

/** Commands the lab uses on the host, and the Debian packages they come from. */
export const hostCommands = {
  podman: "podman",
  runc: "runc",
  conmon: "conmon",
  mmdebstrap: "mmdebstrap",
  zstd: "zstd",
  iptables: "iptables",
  ip: "iproute2",
  "mkfs.btrfs": "btrfs-progs",
  btrfs: "btrfs-progs",
  losetup: "mount",
  unshare: "util-linux",
  setpriv: "util-linux",
  openssl: "openssl",
} as const;

/** Where Debian keeps commands of root, which are not on everybody's PATH. */
const systemFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

type Exists = (file: string) => boolean;

const find = (command: string, path: string, exists: Exists): boolean =>
  [...path.split(delimiter).filter((folder) => folder !== ""), ...systemFolders].some((folder) =>
    exists(join(folder, command)),
  );

/** Whether the host has the command. */
export const isInstalled = (command: keyof typeof hostCommands): boolean =>
  find(command, process.env["PATH"] ?? "", existsSync);

/** Packages whose commands are in none of the folders of PATH. */
export function missingPackages(path: string, exists: Exists): string[] {
  const lacking = Object.entries(hostCommands)
    .filter(([command]) => !find(command, path, exists))
    .map(([, name]) => name);
  return [...new Set(lacking)].sort();
}

/** Installs what is missing by apt-get; elsewhere than on Debian and its kin it names the packages instead. */
export async function ensureHostPackages(progress: Progress, signal?: AbortSignal): Promise<void> {
  const wanted = missingPackages(process.env["PATH"] ?? "", existsSync);
  if (wanted.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new UserError(
      `The lab needs the packages ${wanted.join(", ")} on this host.`,
      "Install them with the package manager (on Debian as root the lab does it itself).",
    );
  }
  await withStep(progress, `Install ${wanted.join(", ")}`, 40, async (step) => {
    const options = {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      onLine: (line: string) => {
        step.update(line);
      },
      ...(signal && { signal }),
    };
    await run("apt-get", ["update"], options);
    await run("apt-get", ["install", "--yes", "--no-install-recommends", ...wanted], options);
  });
}

/** A Debian mirror with the suites and components of one apt source. */
export interface AptSource {
  readonly uri: string;
  readonly suites: readonly string[];
  readonly components: readonly string[];
}

const field = (stanza: string, name: string): string[] =>
  new RegExp(`^${name}:\\s*(.+)$`, "im").exec(stanza)?.[1]?.trim().split(/\s+/) ?? [];

/** Binary sources in one file of /etc/apt: one-line style (`deb ...`) or deb822 (`.sources`). */
export function parseAptSources(file: string, text: string): AptSource[] {
  if (file.endsWith(".sources")) {
    return text
      .replaceAll(/^#.*\n/gm, "")
      .split(/\n\s*\n/)
      .filter((stanza) => field(stanza, "Types").includes("deb"))
      .filter((stanza) => field(stanza, "Enabled")[0] !== "no")
      .flatMap((stanza) =>
        field(stanza, "URIs").map((uri) => ({
          uri,
          suites: field(stanza, "Suites"),
          components: field(stanza, "Components"),
        })),
      );
  }
  return [...text.matchAll(/^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s*(.*)$/gm)].map(
    ([, uri = "", suite = "", components = ""]) => ({
      uri,
      suites: [suite],
      components: components.split(/\s+/).filter((word) => word !== ""),
    }),
  );
}

/**
 * One-line sources of `suite`, its updates and its security suite from the mirrors the host's own apt uses. None
 * when the host has none for the suite (it runs another release): mmdebstrap then takes Debian's public mirrors.
 */
export function mirrorLines(sources: readonly AptSource[], suite: string): string[] {
  const find = (wanted: string) =>
    sources.find(({ suites, components }) => suites.includes(wanted) && components.includes("main"))
      ?.uri;
  if (find(suite) === undefined) return [];
  return [suite, `${suite}-updates`, `${suite}-security`].flatMap((wanted) => {
    const uri = find(wanted);
    return uri === undefined ? [] : [`deb ${uri} ${wanted} main`];
  });
}

/** All sources of the host's apt. */
export async function hostAptSources(): Promise<AptSource[]> {
  const { stdout } = await run("sh", [
    "-c",
    "find /etc/apt -name '*.list' -o -name '*.sources' | sort",
  ]);
  const files = stdout.split("\n").filter((file) => file !== "");
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return files.flatMap((file, index) => parseAptSources(file, texts[index] ?? ""));
}

/**
 * How the host's apt reaches its mirrors (proxy, certificates), as lines of an apt configuration file.
 * `dump` is the output of `apt-config dump`.
 */
export function aptAccess(dump: string): string[] {
  return dump
    .split("\n")
    .filter((line) =>
      /^Acquire::(http|https)::(?:[^ ]*::)?(Proxy|Proxy-Auto-Detect|CaInfo|Verify-Peer|Verify-Host|SslCert|SslKey)\b/i.test(
        line,
      ),
    )
    .concat(
      dump.split("\n").filter((line) => /^Acquire::(Check-Valid-Until|Check-Date) /.test(line)),
    );
}
