import type { KubeClient } from "./client.js";
import { resolveObjectPath } from "./discovery.js";
import type { Discovery } from "./discovery.js";
import { getListAt, omitKeys } from "../objects/json.js";
import { getApiVersion, getKind } from "../objects/object-fields.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

export interface WriteOptions {
  readonly fieldManager: string;
  readonly dryRun?: boolean;
  /** Whether the write takes over fields from other managers. @default false */
  readonly force?: boolean;
}

const writeQuery = (options: WriteOptions) => ({
  fieldManager: options.fieldManager,
  dryRun: options.dryRun ? "All" : undefined,
});

/** Client for the objects of one cluster. Every request ends when `signal` is aborted. */
export class ObjectClient {
  constructor(
    private readonly client: KubeClient,
    readonly discovery: Discovery,
    private readonly signal: AbortSignal,
  ) {}

  async get(object: JsonObject): Promise<JsonObject> {
    const { path } = await resolveObjectPath(this.discovery, object, this.signal);
    return this.client.request({ path, signal: this.signal });
  }

  async create(object: JsonObject, options: WriteOptions): Promise<JsonObject> {
    const { collection, namespaced } = await resolveObjectPath(this.discovery, object, this.signal);
    return this.client.request({
      method: "POST",
      path: collection,
      query: writeQuery(options),
      body: namespaced ? object : withoutNamespace(object),
      signal: this.signal,
    });
  }

  /** Applies an object by server-side apply. */
  async applyObject(object: JsonObject, options: WriteOptions): Promise<JsonObject> {
    const { path, namespaced } = await resolveObjectPath(this.discovery, object, this.signal);
    return this.client.request({
      method: "PATCH",
      path,
      query: { ...writeQuery(options), force: options.force ? "true" : "false" },
      type: "application/apply-patch+yaml",
      body: namespaced ? object : withoutNamespace(object),
      signal: this.signal,
    });
  }

  async replace(object: JsonObject, options: WriteOptions): Promise<JsonObject> {
    const { path } = await resolveObjectPath(this.discovery, object, this.signal);
    return this.client.request({
      method: "PUT",
      path,
      query: writeQuery(options),
      body: object,
      signal: this.signal,
    });
  }

  async jsonPatch(object: JsonObject, patch: readonly JsonObject[]): Promise<JsonObject> {
    const { path } = await resolveObjectPath(this.discovery, object, this.signal);
    return this.client.request({
      method: "PATCH",
      path,
      type: "application/json-patch+json",
      body: patch,
      signal: this.signal,
    });
  }

  async delete(object: JsonObject, propagationPolicy: string): Promise<void> {
    const { path } = await resolveObjectPath(this.discovery, object, this.signal);
    await this.client.request({
      method: "DELETE",
      path,
      body: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy },
      signal: this.signal,
    });
  }

  /** Returns the objects of a kind in a namespace that have all these labels. */
  async list(kind: JsonObject, labels: Readonly<Record<string, string>>): Promise<JsonObject[]> {
    const { collection } = await resolveObjectPath(this.discovery, kind, this.signal);
    const labelSelector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(",");
    const list = await this.client.request({
      path: collection,
      query: { labelSelector: labelSelector || undefined },
      signal: this.signal,
    });
    // The items of a list do not contain their apiVersion and kind.
    return getListAt(list, "items")
      .filter(isObject)
      .map((item) => ({ apiVersion: getApiVersion(kind), kind: getKind(kind), ...item }));
  }
}

/**
 * Returns the object without its namespace. The program may have set the namespace before the scope
 * of the kind was known.
 */
function withoutNamespace(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (!isObject(metadata)) return object;
  return { ...object, metadata: omitKeys(metadata, "namespace") };
}
