import { KubeClient } from "./client/client.js";
import { ObjectClient } from "./client/object-client.js";
import { Discovery } from "./client/discovery.js";
import { getApiServerConnection, loadKubeconfig } from "./client/kubeconfig.js";
import { ResourceLog } from "./engine-messages.js";
import type { ResourceMessageLog } from "./engine-messages.js";
import type { GroupVersionKind } from "./objects/kinds.js";
import { isBuiltIn, isNamespacedBuiltIn } from "./objects/kinds.js";
import type { ProviderSettings } from "./settings.js";
import type { JsonObject } from "../plugin/values.js";

/** Times in milliseconds. Tests use shorter times. */
export interface Timing {
  /**
   * Time before the first retry of a create whose kind or namespace does not exist yet. The time
   * doubles with each retry.
   */
  readonly retry: number;
  /** Time after which unchanged endpoints of a Service count as stable. */
  readonly settle: number;
}

/** Times of the official provider. */
export const defaultTiming: Timing = { retry: 1000, settle: 10_000 };

/** Context of all operations of a configured provider. */
export class ProviderSession {
  /** Reason why the cluster is unreachable. Undefined if it is reachable. */
  readonly unreachable: string | undefined;
  readonly settings: ProviderSettings;
  readonly signal: AbortSignal;
  readonly timing: Timing;
  /** Namespace of objects that do not specify a namespace. */
  readonly namespace: string;
  private readonly log: ResourceMessageLog;
  private readonly reachable: ObjectClient | undefined;

  constructor(
    options: ProviderSessionOptions,
    found:
      { readonly cluster: ObjectClient; readonly namespace: string } | { readonly why: string },
  ) {
    this.reachable = "cluster" in found ? found.cluster : undefined;
    this.unreachable = "why" in found ? found.why : undefined;
    this.namespace = "namespace" in found ? found.namespace : "default";
    ({
      settings: this.settings,
      signal: this.signal,
      log: this.log,
      timing: this.timing = defaultTiming,
    } = options);
  }

  /** Client of the provider's cluster. Throws the reason if the cluster is unreachable. */
  get cluster(): ObjectClient {
    if (this.reachable) return this.reachable;
    throw new Error(`configured Kubernetes cluster is unreachable: ${this.unreachable ?? ""}`);
  }

  logFor(urn: string): ResourceLog {
    return new ResourceLog(this.log, urn);
  }

  async isNamespaced(gvk: GroupVersionKind): Promise<boolean> {
    if (this.reachable) return this.reachable.discovery.isNamespaced(gvk);
    return !isBuiltIn(gvk) || isNamespacedBuiltIn(gvk);
  }

  /**
   * Records the scope of a CustomResourceDefinition that the program will create. So the scope of
   * its objects is known before the definition exists.
   */
  plan(crd: JsonObject): void {
    this.reachable?.discovery.plan(crd);
  }

  /**
   * Reports whether a dry run of this kind is possible: the cluster is reachable and serves the
   * kind.
   */
  async canTry(gvk: GroupVersionKind): Promise<boolean> {
    return this.reachable !== undefined && (await this.reachable.discovery.exists(gvk));
  }
}

export interface ProviderSessionOptions {
  readonly settings: ProviderSettings;
  readonly log: ResourceMessageLog;
  readonly signal: AbortSignal;
  /** Kubeconfig for a provider without a kubeconfig argument: $KUBECONFIG or ~/.kube/config. */
  readonly defaultKubeconfig: string;
  readonly timing?: Timing;
}

/**
 * Connects a provider to its cluster. An unreachable cluster or an invalid kubeconfig is not an
 * error here. Previews continue without the cluster. Operations that need the cluster fail with the
 * reason.
 */
export async function openProviderSession(
  options: ProviderSessionOptions,
): Promise<ProviderSession> {
  const { settings, signal } = options;
  const open = (found: ConstructorParameters<typeof ProviderSession>[1]) =>
    new ProviderSession(options, found);
  let client: KubeClient;
  try {
    const loaded = loadKubeconfig(settings.kubeconfig ?? options.defaultKubeconfig);
    client = new KubeClient(getApiServerConnection(loaded, settings.overrides));
  } catch (error) {
    return open({ why: `failed to parse kubeconfig data: ${messageOf(error)}` });
  }
  try {
    await client.request({ path: "/version", query: { timeout: "32s" }, signal });
  } catch (error) {
    client.close();
    const what = "unable to load schema information from the API server";
    return open({ why: `${what}: ${messageOf(error)}` });
  }
  const cluster = new ObjectClient(client, new Discovery(client), signal);
  return open({ cluster, namespace: client.connection.namespace });
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
