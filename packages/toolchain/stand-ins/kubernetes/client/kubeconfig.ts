import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { getListAt, getMapAt, getTextAt } from "../objects/json.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/** Address and credentials of one API server. */
export interface ApiServerConnection {
  /** Address `https://host:port` with an optional path. */
  readonly server: string;
  readonly ca?: Buffer;
  readonly insecure: boolean;
  readonly serverName?: string;
  readonly certificate?: Buffer;
  readonly key?: Buffer;
  readonly token?: string;
  readonly user?: { readonly name: string; readonly password: string };
  /** Namespace of objects that do not specify a namespace. */
  readonly namespace: string;
}

export interface KubeconfigOverrides {
  readonly context?: string;
  readonly cluster?: string;
  readonly namespace?: string;
}

interface Loaded {
  readonly config: JsonObject;
  /** Directory of the kubeconfig. File names in the kubeconfig are relative to this directory. */
  readonly directory: string;
}

/** Reads a kubeconfig from its content (YAML or JSON) or from a path. */
export function loadKubeconfig(pathOrContents: string): Loaded {
  const path = pathOrContents.startsWith("~")
    ? join(homedir(), pathOrContents.slice(1))
    : pathOrContents;
  const isPath = !path.includes("\n") && existsSync(path);
  const config: unknown = parse(isPath ? readFileSync(path, "utf8") : pathOrContents);
  if (!isObject(config)) throw new Error("it is neither a kubeconfig nor the path of one");
  return { config, directory: isPath ? dirname(resolve(path)) : process.cwd() };
}

const entry = (config: JsonObject, list: string, name: string): JsonObject | undefined => {
  const found = getListAt(config, list).find((item) => getTextAt(item, "name") === name);
  return isObject(found) ? found : undefined;
};

/**
 * Returns the entry of the active cluster in a kubeconfig. The gRPC method DiffConfig compares this
 * entry.
 */
export function findActiveCluster(
  config: JsonObject,
  overrides: KubeconfigOverrides,
): JsonObject | undefined {
  const context = entry(
    config,
    "contexts",
    overrides.context ?? getTextAt(config, "current-context"),
  );
  if (context === undefined) return undefined;
  const name = overrides.cluster ?? getTextAt(context, "context", "cluster");
  const cluster = entry(config, "clusters", name);
  return cluster && getMapAt(cluster, "cluster");
}

const unsupported: readonly [string, string][] = [
  ["exec", "does not run credential plugins (users[].user.exec)"],
  ["auth-provider", "does not know auth providers (users[].user.auth-provider)"],
  ["proxy-url", "does not use proxies (clusters[].cluster.proxy-url)"],
];

export function getApiServerConnection(
  loaded: Loaded,
  overrides: KubeconfigOverrides,
): ApiServerConnection {
  const { config, directory } = loaded;
  const contextName = overrides.context ?? getTextAt(config, "current-context");
  const context = getMapAt(entry(config, "contexts", contextName), "context");
  const cluster = findActiveCluster(config, overrides);
  if (cluster === undefined) throw new Error(`it has no context "${contextName}" with a cluster`);
  const user = getMapAt(entry(config, "users", getTextAt(context, "user")), "user");
  for (const [key, what] of unsupported) {
    if (user[key] !== undefined || cluster[key] !== undefined) {
      throw new Error(`the stand-in ${what}`);
    }
  }
  return {
    server: getTextAt(cluster, "server").replace(/\/$/, ""),
    ca: readPart(directory, cluster, "certificate-authority"),
    insecure: cluster["insecure-skip-tls-verify"] === true,
    serverName: orUndefined(getTextAt(cluster, "tls-server-name")),
    certificate: readPart(directory, user, "client-certificate"),
    key: readPart(directory, user, "client-key"),
    ...credentials(directory, user),
    namespace: overrides.namespace ?? orUndefined(getTextAt(context, "namespace")) ?? "default",
  };
}

const orUndefined = (text: string): string | undefined => (text === "" ? undefined : text);

function readPart(directory: string, from: JsonObject, name: string): Buffer | undefined {
  const data = getTextAt(from, `${name}-data`);
  if (data) return Buffer.from(data, "base64");
  const file = getTextAt(from, name);
  return file ? readFileSync(resolve(directory, file)) : undefined;
}

function credentials(
  directory: string,
  user: JsonObject,
): Pick<ApiServerConnection, "token" | "user"> {
  const file = getTextAt(user, "tokenFile");
  const token = file
    ? readFileSync(resolve(directory, file), "utf8").trim()
    : getTextAt(user, "token");
  const name = getTextAt(user, "username");
  return {
    token: orUndefined(token),
    user: name ? { name, password: getTextAt(user, "password") } : undefined,
  };
}
