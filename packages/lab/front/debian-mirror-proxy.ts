import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Address4 } from "ip-address";
import { replaceFile } from "../../../base/atomic-files.js";
import { readHostAptSources, type AptSource } from "../host/packages.js";
import { debianSuite } from "../cloud-debian-packages.js";
import type { LabPaths, LabSettings } from "../settings.js";
import { listFrontHostNames } from "./hosts.js";
import { renderServerBlock, getFrontServerLines } from "./nginx.js";

/** Debian mirrors to which the front passes requests on. */
export interface DebianMirrors {
  /** Address of the archive, without a trailing slash. */
  readonly archive: string;
  readonly security: string;
  /** Addresses of the name servers that resolve the mirrors' names. */
  readonly nameServers: readonly string[];
}

/** Folder in the cloud for nginx's cache of the mirrors. */
export const mirrorCacheFolder = "/var/cache/lab-front";

/**
 * Returns the mirrors that the host's apt uses. For a suite without an HTTP mirror there, returns
 * Debian's public mirror.
 */
export function findDebianMirrors(
  sources: readonly AptSource[],
  nameServers: readonly string[],
): DebianMirrors {
  const find = (wanted: string, otherwise: string): string =>
    sources
      .find(({ uri, suites }) => /^https?:/.test(uri) && suites.includes(wanted))
      ?.uri.replace(/\/+$/, "") ?? otherwise;
  return {
    archive: find(debianSuite, "http://deb.debian.org/debian"),
    security: find(`${debianSuite}-security`, "http://deb.debian.org/debian-security"),
    nameServers,
  };
}

/**
 * Returns the IPv4 name servers in a resolv.conf, without loopback addresses, which only the host
 * can reach.
 */
export const parseNameServers = (text: string): string[] =>
  [...text.matchAll(/^nameserver\s+(\S+)/gm)]
    .map(([, address = ""]) => address)
    .filter((address) => Address4.isValid(address) && !address.startsWith("127."));

const unchanging = "(pool/|dists/.*/by-hash/)";

const passedOn = (name: string, mirror: string): string[] => {
  const target = `proxy_pass ${mirror}/$rest$is_args$args;`;
  const host = `proxy_set_header Host ${new URL(mirror).host};`;
  return [
    `location ~ ^/${name}/(?<rest>${unchanging}.*)$ { proxy_cache_valid 200 90d; ${host} ${target} }`,
    `location ~ ^/${name}/(?<rest>.*)$ { proxy_cache_valid 200 10m; ${host} ${target} }`,
  ];
};

/**
 * Renders nginx's server that passes requests on to Debian's mirrors and caches the answers.
 * Renders nothing if the host has no usable name server.
 */
export function renderMirrorProxy(settings: LabSettings, mirrors: DebianMirrors): string {
  const { archive, security, nameServers } = mirrors;
  if (nameServers.length === 0) return "";
  return [
    `proxy_cache_path ${mirrorCacheFolder} levels=1:2 keys_zone=mirrors:4m max_size=8g inactive=90d use_temp_path=off;\n`,
    renderServerBlock([
      ...[
        `listen ${settings.management.front}:80;`,
        ...getFrontServerLines(settings, listFrontHostNames("mirror")),
      ],
      `resolver ${nameServers.join(" ")} ipv6=off;`,
      ...["proxy_cache mirrors;", "proxy_cache_lock on;", "proxy_cache_revalidate on;"],
      "proxy_cache_use_stale error timeout http_500 http_502 http_503 http_504;",
      "proxy_ignore_headers Cache-Control Expires Set-Cookie Vary;",
      "proxy_ssl_server_name on;",
      ...passedOn("debian", archive),
      ...passedOn("debian-security", security),
    ]),
  ].join("");
}

/** Returns the front's folders on the host. */
export const getFrontFolders = ({ front }: LabPaths) => ({
  configuration: join(front, "conf"),
  mirrored: join(front, "mirrored"),
});

async function nameServers(): Promise<string[]> {
  // With systemd-resolved, the first file contains only a loopback address, and the second file
  // contains the real name servers.
  for (const file of ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"]) {
    const found = parseNameServers(await readFile(file, "utf8").catch(() => ""));
    if (found.length > 0) return found;
  }
  return [];
}

/** Writes the part of the front's configuration that depends on this host. */
export async function writeMirrorProxy(settings: LabSettings, paths: LabPaths): Promise<void> {
  const { configuration, mirrored } = getFrontFolders(paths);
  await mkdir(mirrored, { recursive: true });
  const mirrors = findDebianMirrors(await readHostAptSources(), await nameServers());
  replaceFile(join(configuration, "mirrors.conf"), renderMirrorProxy(settings, mirrors));
}
