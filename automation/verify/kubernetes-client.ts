import { parse } from "yaml";
import { z } from "zod";
import {
  isUntrustedCertificate,
  sendHttpRequest,
  type HttpAnswer,
} from "../../openstack/http/http-exchange.js";
import { Failure } from "../../base/failures/failure.js";

const entries = z.array(z.looseObject({ name: z.string() }));
const kubeconfigSchema = z.looseObject({
  "current-context": z.string(),
  clusters: entries,
  users: entries,
  contexts: entries,
});

const decoded = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");

/** Address and credentials from a kubeconfig. */
export interface KubeAccess {
  readonly server: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

const clusterSchema = z.object({
  cluster: z.looseObject({
    server: z.string(),
    "certificate-authority-data": z.string().optional(),
  }),
});
const userSchema = z.object({
  user: z.looseObject({
    "client-certificate-data": z.string().optional(),
    "client-key-data": z.string().optional(),
    token: z.string().optional(),
  }),
});
const contextSchema = z.object({
  context: z.looseObject({ cluster: z.string(), user: z.string() }),
});

/**
 * Parses YAML text. Returns undefined for invalid text, because the parser's error would quote
 * lines of the kubeconfig, which are secret.
 */
function yamlOf(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Returns address, CA and credentials of the kubeconfig's current context. */
export function readKubeAccess(kubeconfig: string): KubeAccess {
  const config = kubeconfigSchema.safeParse(yamlOf(kubeconfig));
  if (!config.success) throw new Failure("FAILED", "The stack's kubeconfig is invalid.");
  const { data } = config;
  const entry = (list: readonly { name: string }[], name: string): unknown =>
    list.find((candidate) => candidate.name === name);
  const { context } = contextSchema.parse(entry(data.contexts, data["current-context"]));
  const { cluster } = clusterSchema.parse(entry(data.clusters, context.cluster));
  const { user } = userSchema.parse(entry(data.users, context.user));
  return {
    server: cluster.server.replace(/\/+$/, ""),
    ca: decoded(cluster["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
    token: user.token,
  };
}

/** Small client of the Kubernetes API for read requests. */
export class KubernetesApi {
  /**
   * Creates a client.
   *
   * @param timeout milliseconds without data after which a request fails
   */
  constructor(
    private readonly access: KubeAccess,
    private readonly timeout = 15_000,
  ) {}

  async send(method: string, path: string): Promise<HttpAnswer> {
    const { server, ca, cert, key, token } = this.access;
    const { timeout } = this;
    const headers = {
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    try {
      return await sendHttpRequest(server + path, { method, ca, cert, key, timeout, headers });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof Error && isUntrustedCertificate(error))
        throw new Failure(
          "KUBERNETES_UNTRUSTED",
          `The certificate of the Kubernetes API at ${new URL(server).host} cannot be verified: ${reason}.`,
        );
      throw new Failure(
        "KUBERNETES_UNREACHABLE",
        `The Kubernetes API at ${new URL(server).host} cannot be reached: ${reason}.`,
        "Check that a control plane runs (`stackadm status`) and that your address is in allowedCidrs.",
      );
    }
  }

  /** Sends a GET and returns the parsed answer, or undefined if the object does not exist. */
  async get(path: string): Promise<unknown> {
    const { status, body } = await this.send("GET", path);
    if (status === 404) return undefined;
    if (status !== 200)
      throw new Failure(
        "FAILED",
        `The Kubernetes API answered ${status} to GET ${path}: ${body.slice(0, 200)}`,
      );
    return JSON.parse(body);
  }

  async text(path: string): Promise<string> {
    const { status, body } = await this.send("GET", path);
    if (status !== 200)
      throw new Failure(
        "FAILED",
        `The Kubernetes API answered ${status} to GET ${path}: ${body.slice(0, 200)}`,
      );
    return body;
  }
}
