import { Agent, request as httpsRequest } from "node:https";
import type { RequestOptions } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { getTextAt } from "../objects/json.js";
import type { ApiServerConnection } from "./kubeconfig.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/**
 * Error of a request that the API server answered with a failure Status. The message comes from the
 * server.
 */
export class ApiError extends Error {
  constructor(
    readonly code: number,
    readonly status: JsonObject,
  ) {
    super(getTextAt(status, "message") || `the server answered ${code}`);
    this.name = "ApiError";
  }
  get reason(): string {
    return getTextAt(this.status, "reason");
  }
  /** Kind to which the Status refers, e.g. `namespaces`. */
  get kind(): string {
    return getTextAt(this.status, "details", "kind");
  }
}

/**
 * Error of a request without an answer, because the connection failed, timed out or was closed. The
 * message contains the request, as in Go's client.
 */
export class UnreachableError extends Error {
  constructor(method: string, url: string, cause: Error) {
    const verb = method.charAt(0) + method.slice(1).toLowerCase();
    super(`${verb} "${url}": ${describeCause(cause)}`, { cause });
    this.name = "UnreachableError";
  }
}

function describeCause(error: NodeJS.ErrnoException & { address?: string; port?: number }): string {
  const where = error.address ? `${error.address}:${error.port ?? ""}` : "";
  switch (error.code) {
    case "ECONNREFUSED":
      return `dial tcp ${where}: connect: connection refused`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `dial tcp ${where}: connect: no route to host`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: ${error.message}`;
    default:
      return error.message || String(error.code);
  }
}

export const isNotFound = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 404;
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === "AlreadyExists";
export const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.reason === "Conflict";
export const isForbidden = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 403;

export interface KubeRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Record<string, string | undefined>;
  readonly body?: JsonObject | readonly JsonObject[];
  /** Content type of the body. @default application/json */
  readonly type?: string;
  readonly signal?: AbortSignal;
}

/**
 * Time in milliseconds after which a request without an answer fails. It is equal to the limit in
 * client-go's discovery.
 */
const requestTimeout = 32_000;

const readRetries = 10;

interface Answer {
  readonly code: number;
  readonly text: string;
}

/** Small Kubernetes client: JSON over HTTPS with the credentials of one kubeconfig context. */
export class KubeClient {
  private readonly agent: Agent;

  /** @param interval milliseconds between two attempts of a read whose connection was closed */
  constructor(
    readonly connection: ApiServerConnection,
    private readonly interval = 1_000,
  ) {
    this.agent = new Agent({
      keepAlive: true,
      maxSockets: 32,
      ca: connection.ca,
      cert: connection.certificate,
      key: connection.key,
      servername: connection.serverName,
      rejectUnauthorized: !connection.insecure,
    });
  }

  close(): void {
    this.agent.destroy();
  }

  async request(request: KubeRequest): Promise<JsonObject> {
    const method = request.method ?? "GET";
    const url = new URL(this.connection.server + request.path);
    for (const [key, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(key, value);
    }
    let answer: Answer;
    try {
      answer = await this.sendAgain(url, method, request);
    } catch (error) {
      if (request.signal?.aborted) throw error;
      throw new UnreachableError(method, url.href, error as Error);
    }
    const parsed = parseBody(answer.text);
    if (answer.code >= 200 && answer.code < 300) return parsed;
    throw new ApiError(answer.code, parsed);
  }

  /**
   * Sends a request. Retries a GET request up to ten times if its connection was closed, like
   * client-go (rest/request.go).
   */
  private async sendAgain(url: URL, method: string, request: KubeRequest): Promise<Answer> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.send(url, method, request);
      } catch (error) {
        const cut = (error as NodeJS.ErrnoException).code === "ECONNRESET";
        if (!cut || method !== "GET" || tries >= readRetries) throw error;
        await pause(this.interval, undefined, { signal: request.signal });
      }
    }
  }

  private headers(type: string | undefined, body: Buffer | undefined): Record<string, string> {
    const { token, user } = this.connection;
    const authorization = token
      ? `Bearer ${token}`
      : user && `Basic ${Buffer.from(`${user.name}:${user.password}`).toString("base64")}`;
    return {
      accept: "application/json",
      "user-agent": "stackadm-kubernetes-stand-in",
      // By default, Node sends no length for a DELETE. The server would then read the body as the
      // next request.
      ...(body && {
        "content-type": type ?? "application/json",
        "content-length": String(body.length),
      }),
      ...(authorization === undefined ? {} : { authorization }),
    };
  }

  private send(url: URL, method: string, request: KubeRequest): Promise<Answer> {
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const options: RequestOptions = {
      method,
      agent: this.agent,
      headers: this.headers(request.type, body),
      signal: request.signal,
    };
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
        });
      });
      outgoing.setTimeout(requestTimeout, () => {
        outgoing.destroy(new Error("context deadline exceeded"));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }
}

/** Parses a body. Errors of proxies and of some handlers are plain text. */
function parseBody(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : { message: text };
  } catch {
    return { message: text.trim() };
  }
}
