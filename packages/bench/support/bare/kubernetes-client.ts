import { setTimeout as pause } from "node:timers/promises";
import {
  KubernetesApi,
  readKubeAccess,
  type KubeAccess,
} from "../../../../automation/verify/kubernetes-client.js";
import { sendHttpRequest, type HttpAnswer } from "../../../../openstack/http/http-exchange.js";
import type { Fields } from "../../../../test/support/graph/graph.js";

/**
 * Times in milliseconds: how long a failing request is retried (`patience`), and the pause between
 * two attempts (`pause`).
 */
const times = { patience: 60_000, pause: 100 };

interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/**
 * Returns the plural of a kind, as the API's paths contain it. All kinds that are applied here have
 * regular plurals.
 */
const plural = (kind: string): string => {
  const word = kind.toLowerCase();
  return /s$/.test(word) ? `${word}es` : word.replace(/y$/, "ie") + "s";
};

/** Returns the path of an object in the Kubernetes API. */
export function getObjectPath(object: Fields): string {
  const { apiVersion, kind, metadata } = object as unknown as Named;
  const { name, namespace } = metadata;
  const group = apiVersion.includes("/") ? "apis" : "api";
  const place = namespace === undefined ? "" : `/namespaces/${namespace}`;
  return `/${group}/${apiVersion}${place}/${plural(kind)}/${name}`;
}

/**
 * Returns whether a retry cannot help. Other errors may be temporary: the namespace, the kind or
 * the API itself may not exist yet.
 */
const isWrong = ({ status }: HttpAnswer): boolean => [400, 401, 409, 422].includes(status);

/** Kubernetes client that applies each object by one call. */
export class BareKubernetesClient {
  readonly #access: KubeAccess;
  readonly #api: KubernetesApi;

  constructor(kubeconfig: string) {
    this.#access = readKubeAccess(kubeconfig);
    this.#api = new KubernetesApi(this.#access);
  }

  async put(object: Fields): Promise<void> {
    const end = Date.now() + times.patience;
    const path = `${getObjectPath(object)}?fieldManager=bench&force=true`;
    for (;;) {
      const answer = await this.#patch(path, JSON.stringify(object)).catch(
        (error: unknown) => error,
      );
      const status = answer instanceof Error ? undefined : (answer as HttpAnswer);
      if (status && status.status < 300) return;
      if (Date.now() > end || (status && isWrong(status)))
        throw new Error(`PATCH ${path}: ${status ? status.body : String(answer)}`);
      await pause(times.pause);
    }
  }

  /** Waits until a Service's load balancer has an address. Returns the address. */
  async addressOf(namespace: string, name: string): Promise<string> {
    for (;;) {
      const service = (await this.#api.get(`/api/v1/namespaces/${namespace}/services/${name}`)) as {
        status?: { loadBalancer?: { ingress?: { ip?: string }[] } };
      };
      const address = service.status?.loadBalancer?.ingress?.[0]?.ip;
      if (address !== undefined) return address;
      await pause(times.pause);
    }
  }

  #patch(path: string, body: string): Promise<HttpAnswer> {
    const { server, ...credentials } = this.#access;
    return sendHttpRequest(server + path, {
      method: "PATCH",
      body,
      timeout: 15_000,
      headers: { accept: "application/json", "content-type": "application/apply-patch+yaml" },
      ...credentials,
    });
  }
}
