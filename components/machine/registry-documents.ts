import type { ClusterSpec } from "../spec/cluster-spec.js";

type Kubernetes = Pick<ClusterSpec["kubernetes"], "registry" | "registries">;
type Registry = Pick<
  ClusterSpec["kubernetes"]["registries"][string],
  "mirrors" | "ca" | "plainHttp"
>;

/** Where containerd looks for a folder with the name of a registry's host (scripts/registries.sh). */
const certificates = "/etc/containerd/certs.d";

/** Host and port of an image prefix. */
export const registryHost = (prefix: string): string => prefix.split("/")[0] ?? prefix;

/** The host that answers for a registry: of one registry it is another than images name. */
const serverOf = (host: string): string => (host === "docker.io" ? "registry-1.docker.io" : host);

/** A basic string of TOML, which has the escapes of JSON and no DEL. */
const toml = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

/** What is known of each registry; the prefix of the site's copies is one of them. */
function registriesOf({ registry, registries }: Kubernetes): ReadonlyMap<string, Registry> {
  const known = new Map<string, Registry>(Object.entries(registries));
  if (!registry.plainHttp) return known;
  const host = registryHost(registry.prefix);
  const { mirrors = [], ca } = known.get(host) ?? {};
  return known.set(host, { mirrors, ca, plainHttp: true });
}

/** One address that is asked, with the authority of its own host. */
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

/** hosts.toml: what is asked for a registry's images, the registry itself last. */
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

/** The files below containerd's folder of registries, which it reads anew for every pull: a line `NAME BASE64` each. */
export function registryFiles(kubernetes: Kubernetes): string {
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

/** Who signs in where. */
export interface SignIn {
  readonly host: string;
  readonly user: string;
  readonly password: string;
}

/** The part of containerd's config.toml with passwords: it has no other place for them. */
export const signIns = (all: readonly SignIn[]): string =>
  all
    .map(
      ({ host, user, password }) =>
        `[plugins."io.containerd.cri.v1.images".registry.configs.${toml(serverOf(host))}.auth]\n` +
        `  username = ${toml(user)}\n  password = ${toml(password)}\n`,
    )
    .join("\n");
