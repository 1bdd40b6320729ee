import { Address4 } from "ip-address";
import type { ClusterSpec } from "../spec/cluster-spec.js";

export type ProxySpec = Pick<ClusterSpec, "network" | "endpoint" | "apiName" | "kubernetes">;

/** A proxy's addresses, as far as there are some. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
}

const hostOf = (url: string): string => /^https?:\/\/(?:[^/@]*@)?([^/:\s]+)/.exec(url)?.[1] ?? "";

/** Whether an entry of a list of exceptions is about a host. */
export function excepts(entry: string, host: string): boolean {
  if (entry.includes("/"))
    return (
      Address4.isValid(entry) &&
      Address4.isValid(host) &&
      new Address4(host).isInSubnet(new Address4(entry))
    );
  const domain = entry.replace(/^\*?\./, "");
  return host === entry || host.endsWith(`.${domain}`);
}

/** The written names and addresses under which the API is reached from outside. Machines know it by its name. */
const apiOutside = (endpoint: ProxySpec["endpoint"]): string[] =>
  Object.entries(endpoint).flatMap(([key, value]) =>
    ["host", "address", "floatingIp"].includes(key) && typeof value === "string" ? [value] : [],
  );

/** What is reached without a proxy. */
export function exceptions({ network, endpoint, apiName, kubernetes }: ProxySpec): string[] {
  const { clusterDomain } = kubernetes.kubelet;
  const { ipv6 } = network;
  const domain = typeof clusterDomain === "string" ? clusterDomain : "cluster.local";
  const all = [
    ...["localhost", "127.0.0.1", "::1"],
    // The metadata of the machine: a proxy would be told the proxy's.
    "169.254.169.254",
    ...[network.nodes, network.pods, network.services],
    ...(ipv6 ? [ipv6.nodes, ipv6.pods, ipv6.services] : []),
    ...[".svc", `.${domain}`],
    ...[apiName, ...apiOutside(endpoint)],
    ...(network.proxy?.noProxy ?? []),
  ];
  return withNames(all, [kubernetes.packages.url]);
}

/** apt, and curl of older distributions, know no ranges; the hosts that they ask are said by their names. */
function withNames(entries: readonly string[], urls: readonly string[]): string[] {
  const named = urls.map(hostOf).filter((host) => entries.some((entry) => excepts(entry, host)));
  return [...new Set([...entries, ...named])];
}

const schemes = ["http", "https"] as const;

/** For systemd, and for a shell: whoever reads one of both spellings. */
function environment(proxies: Proxies, direct: readonly string[]): string {
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

/** apt knows exceptions by their names only. */
function aptConfiguration(proxies: Proxies, direct: readonly string[]): string {
  const hosts = direct.filter((entry) => /^[a-z0-9][a-z0-9.-]*$/i.test(entry));
  return schemes
    .flatMap((scheme) => {
      const proxy = proxies[scheme];
      if (proxy === undefined) return [];
      const at = `Acquire::${scheme}::Proxy`;
      return [`${at} "${proxy}";\n`, ...hosts.map((host) => `${at}::${host} "DIRECT";\n`)];
    })
    .join("");
}

/** For addresses of one scheme: curl's file knows one proxy. */
function curlConfiguration(proxy: string | undefined, direct: readonly string[]): string {
  return proxy === undefined ? "" : `proxy = "${proxy}"\nnoproxy = "${direct.join(",")}"\n`;
}

/** What scripts/proxy.sh puts into files, a line `NAME BASE64` each. */
export function proxyFiles(spec: ProxySpec, proxies: Proxies): string {
  const direct = exceptions(spec);
  const { source, key } = spec.kubernetes.packages.containerd;
  // containerd, which restarts for other variables, asks neither of them.
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
