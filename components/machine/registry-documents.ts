import type { ClusterSpec } from "../config/cluster-spec.js";

type Kubernetes = Pick<ClusterSpec["kubernetes"], "registry" | "registries">;
type Registry = Pick<
  ClusterSpec["kubernetes"]["registries"][string],
  "mirrors" | "ca" | "plainHttp"
>;

/**
 * Directory that containerd reads, with one subdirectory for each registry host
 * (scripts/prepare/containerd-registries.sh).
 */
const certificates = "/etc/containerd/certs.d";

/** Returns the host and port of an image prefix. */
export const parseImagePrefixHost = (prefix: string): string => prefix.split("/")[0] ?? prefix;

/** Returns the host that serves a registry: the name of the registry, except for docker.io. */
const serverOf = (host: string): string => (host === "docker.io" ? "registry-1.docker.io" : host);

/**
 * Returns text as a basic string of TOML. TOML accepts the escapes of JSON, but requires an escape
 * for DEL.
 */
const toml = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

/**
 * Returns the settings of each registry. With `registry.plainHttp`, the host of `registry.prefix`
 * is included.
 */
function registriesOf({ registry, registries }: Kubernetes): ReadonlyMap<string, Registry> {
  const known = new Map<string, Registry>(Object.entries(registries));
  if (!registry.plainHttp) return known;
  const host = parseImagePrefixHost(registry.prefix);
  const { mirrors = [], ca } = known.get(host) ?? {};
  return known.set(host, { mirrors, ca, plainHttp: true });
}

/**
 * Returns the table for one address in hosts.toml. The table names a CA if the settings contain a
 * CA for the address's host.
 */
function hostBlock(address: string, known: ReadonlyMap<string, Registry>): string {
  const [, host = "", path = ""] = /^https?:\/\/([^/]+)(.*)$/.exec(address) ?? [];
  const own = known.get(host)?.ca !== undefined && address.startsWith("https:");
  return [
    "",
    `[host.${toml(address)}]`,
    '  capabilities = ["pull", "resolve"]',
    ...(path === "" ? [] : ["  override_path = true"]),
    ...(own ? [`  ca = ${toml(`${certificates}/${host}/ca.crt`)}`] : []),
    "",
  ].join("\n");
}

/**
 * Returns hosts.toml, which lists the addresses from which containerd pulls a registry's images.
 * The registry itself is the last address.
 */
function hostsFile(
  host: string,
  { mirrors, ca, plainHttp }: Registry,
  known: ReadonlyMap<string, Registry>,
): string {
  const server = `${plainHttp ? "http" : "https"}://${serverOf(host)}`;
  const before = [...mirrors, ...(plainHttp ? [server] : [])];
  return [
    `server = ${toml(server)}\n`,
    ...(ca === undefined ? [] : [`ca = ${toml(`${certificates}/${host}/ca.crt`)}\n`]),
    ...before.map((address) => hostBlock(address, known)),
  ].join("");
}

/**
 * Returns the files of containerd's registry directory. Each file is one line `NAME BASE64`.
 * containerd reads these files again for every pull.
 */
export function renderRegistryFiles(kubernetes: Kubernetes): string {
  const known = registriesOf(kubernetes);
  const files = [...known].flatMap(([host, registry]): [string, string][] => {
    const { mirrors, ca, plainHttp } = registry;
    if (mirrors.length === 0 && ca === undefined && !plainHttp) return [];
    return [
      [`${host}/hosts.toml`, hostsFile(host, registry, known)],
      ...(ca === undefined ? [] : [[`${host}/ca.crt`, `${ca.trimEnd()}\n`] as [string, string]]),
    ];
  });
  return files
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, text]) => `${name} ${Buffer.from(text).toString("base64")}`)
    .join("\n");
}

/** Credentials for a registry. */
export interface RegistryLogin {
  readonly host: string;
  readonly user: string;
  readonly password: string;
}

/**
 * Returns the part of containerd's config.toml that contains the registry passwords. containerd
 * accepts passwords only in config.toml.
 */
export const renderRegistryLogins = (all: readonly RegistryLogin[]): string =>
  all
    .map(
      ({ host, user, password }) =>
        `[plugins."io.containerd.cri.v1.images".registry.configs.${toml(serverOf(host))}.auth]\n` +
        `  username = ${toml(user)}\n  password = ${toml(password)}\n`,
    )
    .join("\n");
