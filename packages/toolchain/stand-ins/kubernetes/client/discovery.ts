import { isNotFound } from "./client.js";
import type { KubeClient } from "./client.js";
import { getListAt, getTextAt } from "../objects/json.js";
import { formatApiVersion, getGvk, isBuiltIn, isNamespacedBuiltIn } from "../objects/kinds.js";
import type { GroupVersionKind } from "../objects/kinds.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/**
 * Error for a kind that the server does not serve. Probably its CustomResourceDefinition is
 * missing.
 */
export class NoMatchError extends Error {
  constructor(gvk: GroupVersionKind) {
    super(`no matches for kind "${gvk.kind}" in version "${formatApiVersion(gvk)}"`);
    this.name = "NoMatchError";
  }
}

export interface ApiResource {
  /** Path of the group and version in URLs, e.g. `/apis/apps/v1`. */
  readonly prefix: string;
  /** Plural of the kind in URLs. */
  readonly plural: string;
  readonly namespaced: boolean;
}

const prefixOf = (gvk: GroupVersionKind): string =>
  gvk.group === "" ? `/api/${gvk.version}` : `/apis/${gvk.group}/${gvk.version}`;

/**
 * Kinds that a server serves. They are read once for each group and version, and read again if a
 * kind is missing.
 */
export class Discovery {
  private readonly known = new Map<string, Promise<JsonObject>>();
  /**
   * Map from a custom resource that does not exist yet to whether it is namespaced. Its definition
   * is part of the program, and the gRPC method Check has received the definition.
   */
  private readonly planned = new Map<string, boolean>();

  constructor(private readonly client: KubeClient) {}

  /** Records the scope of a CustomResourceDefinition that the program will create. */
  plan(crd: JsonObject): void {
    const kind = getTextAt(crd, "spec", "names", "kind");
    const group = getTextAt(crd, "spec", "group");
    this.planned.set(`${group}/${kind}`, getTextAt(crd, "spec", "scope") === "Namespaced");
  }

  async find(gvk: GroupVersionKind, signal?: AbortSignal): Promise<ApiResource> {
    const cached = match(await this.list(gvk, signal), gvk);
    if (cached) return cached;
    this.known.delete(prefixOf(gvk));
    const fresh = match(await this.list(gvk, signal), gvk);
    if (fresh) return fresh;
    throw new NoMatchError(gvk);
  }

  async exists(gvk: GroupVersionKind): Promise<boolean> {
    try {
      await this.find(gvk);
      return true;
    } catch (error) {
      if (error instanceof NoMatchError) return false;
      throw error;
    }
  }

  /**
   * Reports whether objects of the kind have a namespace. Unknown custom resources count as
   * namespaced.
   */
  async isNamespaced(gvk: GroupVersionKind): Promise<boolean> {
    if (isBuiltIn(gvk)) return isNamespacedBuiltIn(gvk);
    const planned = this.planned.get(`${gvk.group}/${gvk.kind}`);
    if (planned !== undefined) return planned;
    try {
      return (await this.find(gvk)).namespaced;
    } catch (error) {
      if (error instanceof NoMatchError) return true;
      throw error;
    }
  }

  private list(gvk: GroupVersionKind, signal?: AbortSignal): Promise<JsonObject> {
    const prefix = prefixOf(gvk);
    const known = this.known.get(prefix);
    if (known) return known;
    const asked = this.client.request({ path: prefix, signal }).catch((error: unknown) => {
      this.known.delete(prefix);
      if (isNotFound(error)) return {};
      throw error;
    });
    this.known.set(prefix, asked);
    return asked;
  }
}

function match(list: JsonObject, gvk: GroupVersionKind): ApiResource | undefined {
  const found = getListAt(list, "resources")
    .filter(isObject)
    .find((item) => item["kind"] === gvk.kind && !getTextAt(item, "name").includes("/"));
  return (
    found && {
      prefix: prefixOf(gvk),
      plural: getTextAt(found, "name"),
      namespaced: found["namespaced"] === true,
    }
  );
}

/** Returns the URL path of an object's collection. */
export function getCollectionPath(resource: ApiResource, namespace: string): string {
  return resource.namespaced
    ? `${resource.prefix}/namespaces/${namespace || "default"}/${resource.plural}`
    : `${resource.prefix}/${resource.plural}`;
}

/** Returns the URL path of an object. */
export async function resolveObjectPath(
  discovery: Discovery,
  object: JsonObject,
  signal?: AbortSignal,
): Promise<{ collection: string; path: string; namespaced: boolean }> {
  const resource = await discovery.find(getGvk(object), signal);
  const collection = getCollectionPath(resource, getTextAt(object, "metadata", "namespace"));
  return {
    collection,
    path: `${collection}/${getTextAt(object, "metadata", "name")}`,
    namespaced: resource.namespaced,
  };
}
