import { readFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { findMissingCommands } from "../../../base/host-packages.js";
import { run } from "../../../base/run-command.js";

/** Commands that the lab uses on the host, and the Debian packages that contain them. */
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

/** Folders of Debian's commands for root, which are not on every user's PATH. */
const systemFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/** Returns the PATH with which the lab searches for commands on the host. */
export const getHostPath = (path = process.env["PATH"] ?? ""): string =>
  [path, ...systemFolders].join(delimiter);

/** Reports whether the host has the command. */
export const isCommandInstalled = (command: keyof typeof hostCommands): boolean =>
  findMissingCommands({ [command]: "" }, getHostPath()).length === 0;

/** Debian mirror with the suites and components of one apt source. */
export interface AptSource {
  readonly uri: string;
  readonly suites: readonly string[];
  readonly components: readonly string[];
}

const field = (stanza: string, name: string): string[] =>
  new RegExp(`^${name}:\\s*(.+)$`, "im").exec(stanza)?.[1]?.trim().split(/\s+/) ?? [];

/**
 * Returns the binary sources in one file of /etc/apt. The file has the one-line style (`deb ...`)
 * or deb822 (`.sources`).
 */
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

/** Returns Debian's public mirrors of a suite. */
const publicSources = (suite: string): AptSource[] => {
  const components = ["main"];
  return [
    { uri: "http://deb.debian.org/debian", suites: [suite, `${suite}-updates`], components },
    {
      uri: "http://deb.debian.org/debian-security",
      suites: [`${suite}-security`],
      components,
    },
  ];
};

/**
 * Returns one-line sources for `suite`, its updates and its security suite. Uses the mirrors of the
 * host's apt. If apt has no mirror for the suite (another release), uses Debian's public mirrors.
 * Backports come from the suite's mirror.
 */
export function renderAptSourceLines(
  hostSources: readonly AptSource[],
  suite: string,
  { backports = false } = {},
): string[] {
  const find = (sources: readonly AptSource[], wanted: string) =>
    sources.find(({ suites, components }) => suites.includes(wanted) && components.includes("main"))
      ?.uri;
  const sources = find(hostSources, suite) === undefined ? publicSources(suite) : hostSources;
  const uris = {
    [suite]: find(sources, suite),
    [`${suite}-updates`]: find(sources, `${suite}-updates`),
    [`${suite}-security`]: find(sources, `${suite}-security`),
    ...(backports && { [`${suite}-backports`]: find(sources, suite) }),
  };
  return Object.entries(uris).flatMap(([wanted, uri]) =>
    uri === undefined ? [] : [`deb ${uri} ${wanted} main`],
  );
}

/** Returns all sources of the host's apt. */
export async function readHostAptSources(): Promise<AptSource[]> {
  const { stdout } = await run("sh", [
    "-c",
    "find /etc/apt -name '*.list' -o -name '*.sources' | sort",
  ]);
  const files = stdout.split("\n").filter((file) => file !== "");
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return files.flatMap((file, index) => parseAptSources(file, texts[index] ?? ""));
}

/**
 * Returns the host's settings for access to its mirrors (proxy, certificates), as lines of an apt
 * configuration file.
 *
 * @param dump output of `apt-config dump`
 */
export function parseAptAccessSettings(dump: string): string[] {
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
