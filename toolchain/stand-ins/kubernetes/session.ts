import { KubeClient } from "./client.js";
import { Cluster } from "./cluster.js";
import { Discovery } from "./discovery.js";
import { connectionOf, loadKubeconfig } from "./kubeconfig.js";
import { ResourceLog } from "./log.js";
import type { Log } from "./log.js";
import type { GroupVersionKind } from "./kinds.js";
import { isBuiltIn, isNamespacedBuiltIn } from "./kinds.js";
import type { Settings } from "./settings.js";
import type { JsonObject } from "../plugin/values.js";

/** Milliseconds; tests shorten them. */
export interface Timing {
  /** Before the first retry of a create that came too early; doubles each time. */
  readonly retry: number;
  /** Without a change of a Service's endpoints until they count as settled. */
  readonly settle: number;
}

/** The official provider's. */
export const defaultTiming: Timing = { retry: 1000, settle: 10_000 };

/** What every operation of a configured provider works with. */
export class Session {
  /** Why there is no cluster, if so. */
  readonly unreachable: string | undefined;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly timing: Timing;
  /** Where objects go that name no namespace. */
  readonly namespace: string;
  private readonly log: Log;
  private readonly reachable: Cluster | undefined;

  constructor(
    options: SessionOptions,
    found: { readonly cluster: Cluster; readonly namespace: string } | { readonly why: string },
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

  /** The cluster, or the reason why there is none as an error. */
  get cluster(): Cluster {
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

  /** Remembers a CustomResourceDefinition of the program, so that the scope of its objects is known early. */
  plan(crd: JsonObject): void {
    this.reachable?.discovery.plan(crd);
  }

  /** Whether a write of this kind could be tried on the server. */
  async canTry(gvk: GroupVersionKind): Promise<boolean> {
    return this.reachable !== undefined && (await this.reachable.discovery.exists(gvk));
  }
}

export interface SessionOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** For a provider without a kubeconfig argument: $KUBECONFIG or ~/.kube/config. */
  readonly defaultKubeconfig: string;
  readonly timing?: Timing;
}

/**
 * Connects a provider to its cluster. A cluster that does not answer, or a kubeconfig that says nothing, is no error
 * here: previews go on without it, and only operations that need it fail, with the reason.
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { settings, signal } = options;
  const open = (found: ConstructorParameters<typeof Session>[1]) => new Session(options, found);
  let client: KubeClient;
  try {
    const loaded = loadKubeconfig(settings.kubeconfig ?? options.defaultKubeconfig);
    client = new KubeClient(connectionOf(loaded, settings.overrides));
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
  const cluster = new Cluster(client, new Discovery(client), signal);
  return open({ cluster, namespace: client.connection.namespace });
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
