import { randomUUID } from "node:crypto";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  getListAt,
  getMapAt,
  setAt,
  getTextAt,
} from "../../../../../stand-ins/kubernetes/objects/json.js";
import { discover } from "./discovery.js";
import { merge } from "./field-sets.js";
import { statusOf } from "./statuses.js";
import type { Answer } from "./statuses.js";
import { bodyOf, encodeSecret, jsonPatched, managed, mergeApply, validate } from "./writes.js";
import { builtIns, simulateControllers } from "./controllers.js";
import type { Served } from "./controllers.js";
import { targetOf, type Target } from "./target.js";
import { Watches } from "./watches.js";
import { kubeconfigFor, selfSigned, type FakeApiOptions } from "./certificate.js";
import type { Json, JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Request that the server received. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly type: string;
}

/**
 * HTTPS server that requires a token. It implements the part of the Kubernetes API that the
 * stand-in and the built plugin use: discovery, an OpenAPI document without schemas, create, read,
 * list, watch, replace, server-side apply with field managers and conflicts, JSON patch,
 * finalizers, dry run, and reactions of controllers. All other parts were tested manually with a
 * real kube-apiserver.
 */
export class FakeApiServer {
  readonly token = randomUUID();
  readonly requests: Seen[] = [];
  /** Kinds whose controllers do nothing. Objects of these kinds never become ready. */
  readonly idle = new Set<string>();
  private readonly objects = new Map<string, JsonObject>();
  private readonly served: Served[] = [...builtIns];
  private readonly watches = new Watches();
  private version = 1;

  private constructor(
    private readonly server: Server,
    private readonly certificate: string,
    private readonly anonymous: boolean,
  ) {}

  static async start(options: FakeApiOptions = {}): Promise<FakeApiServer> {
    const { host = "127.0.0.1", port = 0, anonymous = false } = options;
    const pair = options.pair ?? (await selfSigned());
    const server = createServer(pair);
    const fake = new FakeApiServer(server, pair.cert, anonymous);
    server.on("request", (request, response) => {
      fake.answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    for (const name of ["default", "kube-system"]) {
      fake.put({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    return fake;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /**
   * Returns a kubeconfig for this server. Tests pass another `port`, on which no process listens,
   * so that requests fail.
   */
  kubeconfig(port = this.port): string {
    return kubeconfigFor({ port, certificate: this.certificate, token: this.token });
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  /** Returns the requests that changed an object. Leaves out reads and dry runs. */
  writes(): string[] {
    return this.requests
      .filter((seen) => seen.method !== "GET" && seen.query.get("dryRun") !== "All")
      .map((seen) => `${seen.method} ${seen.path}`);
  }

  find(kind: string, name: string, namespace = ""): JsonObject | undefined {
    return this.objects.get(`${kind}/${namespace}/${name}`);
  }

  /** Stores an object as if a controller or another client had written it. */
  put(object: JsonObject): JsonObject {
    const metadata = getMapAt(object, "metadata");
    const stored: JsonObject = {
      ...object,
      metadata: {
        uid: randomUUID(),
        creationTimestamp: "2026-01-01T00:00:00Z",
        generation: 1,
        ...metadata,
        resourceVersion: String(++this.version),
      },
    };
    this.store(stored);
    if (!this.idle.has(getTextAt(stored, "kind"))) simulateControllers(this, stored);
    return stored;
  }

  /** Stores an object unchanged. No controller reacts to the object. */
  load(object: JsonObject): void {
    this.objects.set(keyOf(object), object);
  }

  /** Changes parts of a stored object, for example its status. */
  change(object: JsonObject, change: JsonObject): void {
    const stored = this.objects.get(keyOf(object));
    if (!stored) return;
    const changed = merge(stored, change);
    setAt(changed, ["metadata", "resourceVersion"], String(++this.version));
    this.store(changed);
    this.finish(changed);
  }

  serve(kind: Served): void {
    this.served.push(kind);
  }

  drop(object: JsonObject): void {
    if (this.objects.delete(keyOf(object))) this.watches.tell("DELETED", object, ++this.version);
  }

  private store(object: JsonObject): void {
    const type = this.objects.has(keyOf(object)) ? "MODIFIED" : "ADDED";
    this.objects.set(keyOf(object), object);
    this.watches.tell(type, object, this.version);
  }

  /** Removes a deleted object if it has no finalizers left. */
  private finish(object: JsonObject): void {
    const deleted = getTextAt(object, "metadata", "deletionTimestamp") !== "";
    if (deleted && getListAt(object, "metadata", "finalizers").length === 0) this.drop(object);
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const answer = this.handle(request, Buffer.concat(chunks).toString("utf8"), response);
      if (!answer) return;
      response.writeHead(answer.code, { "content-type": "application/json" });
      response.end(JSON.stringify(answer.body));
    });
  }

  /** Answers a request. Returns undefined if the answer is already written to the response. */
  private handle(
    request: IncomingMessage,
    text: string,
    response: ServerResponse,
  ): Answer | undefined {
    const url = new URL(request.url ?? "/", "https://fake");
    const method = request.method ?? "GET";
    const type = request.headers["content-type"] ?? "";
    this.requests.push({ method, path: url.pathname, query: url.searchParams, type });
    if (!this.anonymous && request.headers.authorization !== `Bearer ${this.token}`) {
      return statusOf(401, "Unauthorized", "Unauthorized");
    }
    if (url.pathname === "/version") return { code: 200, body: { major: "1", minor: "36" } };
    // The real server answers with a protocol buffer. An empty message is a document without
    // schemas.
    if (url.pathname === "/openapi/v2") return void response.end();
    const target = targetOf(url.pathname, this.served);
    if (target === undefined) return discover(url.pathname, this.served);
    if (url.searchParams.get("watch") === "true") {
      const collection = { kind: target.served.kind, namespace: target.namespace };
      const after = Number(url.searchParams.get("resourceVersion") ?? 0);
      this.watches.watch(collection, after, response);
      return undefined;
    }
    return this.serveObject(target, bodyOf(text), { method, query: url.searchParams, type });
  }

  private serveObject(
    target: Target,
    body: Json,
    how: { method: string; query: URLSearchParams; type: string },
  ): Answer {
    switch (how.method) {
      case "POST":
        return this.create(target, body as JsonObject, how.query);
      case "PATCH":
        return this.patch(target, body, how);
      case "PUT":
        return this.replace(target, body as JsonObject, how.query);
      case "DELETE":
        return this.remove(target);
      default:
        return target.name ? this.read(target) : this.list(target, how.query);
    }
  }

  private stored(target: Target): JsonObject | undefined {
    return this.objects.get(`${target.served.kind}/${target.namespace}/${target.name}`);
  }

  private missing({ served, name }: Target): Answer {
    const message = `${served.plural} "${name}" not found`;
    return statusOf(404, "NotFound", message, { kind: served.plural, name });
  }

  private read(target: Target): Answer {
    const body = this.stored(target);
    return body ? { code: 200, body } : this.missing(target);
  }

  private list(target: Target, query: URLSearchParams): Answer {
    const wanted = (query.get("labelSelector") ?? "").split(",").filter(Boolean);
    const items = [...this.objects.values()].filter(
      (object) =>
        object["kind"] === target.served.kind &&
        getTextAt(object, "metadata", "namespace") === target.namespace &&
        wanted.every((label) => {
          const [key = "", value] = label.split("=");
          return getTextAt(object, "metadata", "labels", key) === value;
        }),
    );
    const metadata = { resourceVersion: String(this.version) };
    const [apiVersion = "v1"] = items.map((item) => getTextAt(item, "apiVersion"));
    return { code: 200, body: { kind: `${target.served.kind}List`, apiVersion, metadata, items } };
  }

  private create(
    target: Target,
    body: JsonObject,
    query: URLSearchParams,
    operation = "Update",
  ): Answer {
    const name = getTextAt(body, "metadata", "name");
    const { namespace, served } = target;
    if (served.namespaced && !this.find("Namespace", namespace)) {
      const message = `namespaces "${namespace}" not found`;
      return statusOf(404, "NotFound", message, { kind: "namespaces", name: namespace });
    }
    if (this.stored({ ...target, name })) {
      return statusOf(409, "AlreadyExists", `${served.plural} "${name}" already exists`);
    }
    const invalid = validate(body);
    if (invalid) return invalid;
    const object = structuredClone(body);
    if (served.namespaced) setAt(object, ["metadata", "namespace"], namespace);
    encodeSecret(object);
    setAt(object, ["metadata", "managedFields"], [managed(query, operation, object)]);
    return { code: 201, body: this.keep(object, query) };
  }

  private replace(target: Target, body: JsonObject, query: URLSearchParams): Answer {
    const old = this.stored(target);
    if (!old) return this.missing(target);
    const metadata = { ...getMapAt(old, "metadata"), ...getMapAt(body, "metadata") };
    const kept = { ...body, metadata, status: getMapAt(old, "status") };
    return { code: 200, body: this.keep(kept, query) };
  }

  private patch(target: Target, body: Json, how: { query: URLSearchParams; type: string }): Answer {
    const old = this.stored(target);
    const apply = how.type.startsWith("application/apply-patch");
    if (!old) {
      return apply
        ? this.create(target, body as JsonObject, how.query, "Apply")
        : this.missing(target);
    }
    if (!apply) {
      return { code: 200, body: this.keep(jsonPatched(old, body as Json[] | null), how.query) };
    }
    const invalid = validate(body as JsonObject);
    if (invalid) return invalid;
    const merged = mergeApply(old, body as JsonObject, how.query);
    return "code" in merged ? merged : { code: 200, body: this.keep(merged.object, how.query) };
  }

  private keep(object: JsonObject, query: URLSearchParams): JsonObject {
    if (query.get("dryRun") !== "All") return this.put(object);
    const metadata = { uid: randomUUID(), creationTimestamp: "2026-01-01T00:00:00Z" };
    return merge({ metadata }, object);
  }

  private remove(target: Target): Answer {
    const object = this.stored(target);
    if (!object) return this.missing(target);
    this.change(object, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    return { code: 200, body: object };
  }
}

const keyOf = (object: JsonObject): string =>
  `${getTextAt(object, "kind")}/${getTextAt(object, "metadata", "namespace")}/${getTextAt(object, "metadata", "name")}`;
