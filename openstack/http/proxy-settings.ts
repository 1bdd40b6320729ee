import { isIP } from "node:net";
import { Failure } from "../../base/failures/failure.js";
import { rangesOverlap } from "../../base/ip-addresses.js";
import { removeUrlPassword } from "../../base/url-passwords.js";

/*
 * Proxy of a request by the rules of Go's programs. OpenStack's provider, the Kubernetes provider
 * and the engine are such programs, so they and this program use the same proxy for the same host.
 */

/** Names of the variables with the proxy for each protocol. The first name has priority. */
const proxyNames = {
  "https:": ["HTTPS_PROXY", "https_proxy"],
  "http:": ["HTTP_PROXY", "http_proxy"],
} as const;
/** Names of the variables with the hosts that are reached without a proxy. */
const directNames = ["NO_PROXY", "no_proxy"] as const;

/** Environment variables that name proxies. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/** Returns only the variables that name proxies. Values may contain a password. */
export const getProxyVariables = (env: NodeJS.ProcessEnv): ProxyVariables =>
  Object.fromEntries(
    [...Object.values(proxyNames).flat(), ...directNames].flatMap((name) =>
      (env[name] ?? "") === "" ? [] : [[name, env[name]]],
    ),
  );

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

const portOf = ({ port, protocol }: URL): string =>
  port === "" ? (protocol === "https:" ? "443" : "80") : port;

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** Returns whether the text is an address range, such as 10.0.0.0/8. */
const isRange = (text: string): boolean => {
  const [address = "", length = ""] = text.split("/");
  const version = isIP(address);
  return version !== 0 && /^\d+$/.test(length) && Number(length) <= (version === 4 ? 32 : 128);
};

/** Pattern of an entry with a name or address, and perhaps a port: `host`, `host:80`, `[::1]:80`. */
const hostAndPort = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/;

/** Returns whether the host is the named address, or in the named domain. */
function isNamed(host: string, name: string): boolean {
  if (name === "") return false;
  if (isIP(name) !== 0) return isIP(host) !== 0 && rangesOverlap(name, host);
  return host === name || host.endsWith(name.startsWith(".") ? name : `.${name}`);
}

/**
 * Returns whether an entry of NO_PROXY contains the URL's host. Entries are `*`, address ranges,
 * addresses, domains (with their subdomains), and domains after a dot (only their subdomains).
 */
function contains(entry: string, url: URL): boolean {
  const host = hostOf(url);
  if (entry === "*") return true;
  if (entry.includes("/")) return isRange(entry) && isIP(host) !== 0 && rangesOverlap(entry, host);
  const [, written = entry, port = portOf(url)] = hostAndPort.exec(entry) ?? [];
  const name = written.replace(/^\[(.*)\]$/, "$1").replace(/^\*(?=\.)/, "");
  return port === portOf(url) && isNamed(host, name);
}

function firstSet(
  env: ProxyVariables,
  names: readonly string[],
): readonly [name: string, value: string] | undefined {
  for (const name of names) {
    const value = env[name] ?? "";
    if (value !== "") return [name, value];
  }
  return undefined;
}

/** Returns whether `%` in a user or a password begins the code of a character. */
const isDecodable = (text: string): boolean => !/%(?![0-9a-f]{2})/i.test(text);

function parseProxy(variable: string, written: string): URL {
  const text = written.includes("://") ? written : `http://${written}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url &&
    ["http:", "https:"].includes(url.protocol) &&
    url.hostname !== "" &&
    isDecodable(url.username + url.password)
  )
    return url;
  throw new Failure(
    "INVALID_USAGE",
    `${variable}: '${removeUrlPassword(text)}' is not the address of a proxy that stackadm can use.`,
    "Write one like http://proxy.example.org:3128, or write the host that needs no proxy to NO_PROXY.",
  );
}

/**
 * Returns the proxy for a URL, or undefined if the host is reached directly. Loopback addresses
 * never use a proxy. Throws INVALID_USAGE if the variable contains no HTTP proxy.
 */
export function findProxy(url: URL, env: ProxyVariables): URL | undefined {
  if (isLoopback(hostOf(url))) return undefined;
  const proxy = firstSet(env, proxyNames[url.protocol === "https:" ? "https:" : "http:"]);
  if (proxy === undefined) return undefined;
  const [, direct = ""] = firstSet(env, directNames) ?? [];
  const entries = direct.split(",").map((entry) => entry.trim().toLowerCase());
  if (entries.some((entry) => contains(entry, url))) return undefined;
  return parseProxy(...proxy);
}
