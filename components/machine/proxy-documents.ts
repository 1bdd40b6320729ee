import { Address4 } from "ip-address";
import type { ClusterSpec } from "../config/cluster-spec.js";

export type ProxySpec = Pick<ClusterSpec, "network" | "endpoint" | "apiName" | "kubernetes">;

/**
 * URLs of the proxy for HTTP and for HTTPS requests. Undefined if such requests do not use a proxy.
 */
export interface ProxyUrls {
  readonly http: string | undefined;
  readonly https: string | undefined;
}

const hostOf = (url: string): string => /^https?:\/\/(?:[^/@]*@)?([^/:\s]+)/.exec(url)?.[1] ?? "";

/** Returns whether an entry of a no-proxy list includes a host. */
export function matchesProxyException(entry: string, host: string): boolean {
  if (entry.includes("/"))
    return (
      Address4.isValid(entry) &&
      Address4.isValid(host) &&
      new Address4(host).isInSubnet(new Address4(entry))
    );
  const domain = entry.replace(/^\*?\./, "");
  return host === entry || host.endsWith(`.${domain}`);
}

/**
 * Returns the names and addresses of the API for clients outside the cluster. Machines use another
 * name.
 */
const apiOutside = (endpoint: ProxySpec["endpoint"]): string[] =>
  Object.entries(endpoint).flatMap(([key, value]) =>
    ["host", "address", "floatingIp"].includes(key) && typeof value === "string" ? [value] : [],
  );

/** Returns the no-proxy list: the names, addresses and CIDRs to which machines connect directly. */
export function getProxyExceptions({
  network,
  endpoint,
  apiName,
  kubernetes,
}: ProxySpec): string[] {
  const { ipv6 } = network;
  const all = [
    ...["localhost", "127.0.0.1", "::1"],
    // Address of the metadata service. Through the proxy, a machine would get the metadata of the
    // proxy's server.
    "169.254.169.254",
    ...[network.nodes, network.pods, network.services],
    ...(ipv6 ? [ipv6.nodes, ipv6.pods, ipv6.services] : []),
    ...[".svc", ".cluster.local"],
    ...[apiName, ...apiOutside(endpoint)],
    ...(network.proxy?.noProxy ?? []),
  ];
  return withNames(all, [kubernetes.packages.url]);
}

/**
 * Returns the entries, and adds the host of each URL that an entry includes by CIDR or domain. apt
 * and older versions of curl do not understand CIDRs.
 */
function withNames(entries: readonly string[], urls: readonly string[]): string[] {
  const named = urls
    .map(hostOf)
    .filter((host) => entries.some((entry) => matchesProxyException(entry, host)));
  return [...new Set([...entries, ...named])];
}

const schemes = ["http", "https"] as const;

/**
 * Returns an environment file for systemd and shells. The file contains each variable in upper case
 * and in lower case, because some programs read only one of the two.
 */
function environment(proxies: ProxyUrls, direct: readonly string[]): string {
  const values = {
    HTTP_PROXY: proxies.http,
    HTTPS_PROXY: proxies.https,
    NO_PROXY: direct.join(","),
  };
  return Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    .flatMap(([name = "", value = ""]) => [
      `${name}='${value}'`,
      `${name.toLowerCase()}='${value}'`,
    ])
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns apt's configuration. apt supports only host names as exceptions. */
function aptConfiguration(proxies: ProxyUrls, direct: readonly string[]): string {
  const hosts = direct.filter((entry) => /^[a-z0-9][a-z0-9.-]*$/i.test(entry));
  return schemes
    .flatMap((scheme) => {
      const proxy = proxies[scheme];
      if (proxy === undefined) return [];
      const option = `Acquire::${scheme}::Proxy`;
      return [`${option} "${proxy}";\n`, ...hosts.map((host) => `${option}::${host} "DIRECT";\n`)];
    })
    .join("");
}

/**
 * Returns curl's configuration for URLs with one scheme. Each scheme needs a file, because a curl
 * configuration file can contain only one proxy.
 */
function curlConfiguration(proxy: string | undefined, direct: readonly string[]): string {
  return proxy === undefined ? "" : `proxy = "${proxy}"\nnoproxy = "${direct.join(",")}"\n`;
}

/** Returns the files that scripts/prepare/proxy.sh writes. Each file is one line `NAME BASE64`. */
export function renderProxyFiles(spec: ProxySpec, proxies: ProxyUrls): string {
  const direct = getProxyExceptions(spec);
  const { source, key } = spec.kubernetes.packages.containerd;
  // containerd never downloads its own package. Its environment file therefore does not contain the
  // hosts of `source` and `key`. Changed variables in the environment file would restart
  // containerd.
  const named = withNames(direct, [source, key]);
  const files = {
    apt: aptConfiguration(proxies, named),
    "curl-http": curlConfiguration(proxies.http, named),
    "curl-https": curlConfiguration(proxies.https, named),
    environment: environment(proxies, direct),
  };
  return Object.entries(files)
    .map(([name, text]) => `${name} ${Buffer.from(text).toString("base64")}`)
    .join("\n");
}
