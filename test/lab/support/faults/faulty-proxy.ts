import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { text } from "node:stream/consumers";
import type { Call, CallFault } from "./seed.js";

export interface ProxyOptions {
  /** Origins of the APIs behind the proxy, for example `http://172.29.0.2:5000`. */
  readonly upstreams: readonly string[];
  /**
   * Address of this machine that clients can reach. A call that comes from this address counts as a
   * call of the program.
   */
  readonly address: string;
  /**
   * Returns the delay of a call in milliseconds. `path` does not contain the query.
   * @default no delay
   */
  readonly delay?: (method: string, path: string) => number;
}

/** Path of sign-in calls. The answers contain the catalog with the addresses of all services. */
const signIn = /\/v3\/auth\//;
const writing = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Call that the proxy received. */
export interface SeenCall {
  readonly method: string;
  /** URL with query. */
  readonly url: string;
  /** Origin of the API that received the call. */
  readonly upstream: string;
  /** Whether the call came from this machine. Calls of the cluster come from other addresses. */
  readonly own: boolean;
}

interface Door {
  readonly upstream: string;
  readonly server: Server;
}

/**
 * HTTP proxy for the APIs of a cloud that can make calls fail. It listens on one port for each API.
 * It forwards the client's Host header, so that addresses in answers point to the proxy. It
 * replaces the addresses in the catalog.
 */
export class FaultyProxy {
  /** Failed calls, for example `POST /v2.0/ports: 503`. */
  readonly failed: string[] = [];
  /** All calls, oldest first. */
  readonly seen: SeenCall[] = [];
  #doors: readonly Door[] = [];
  #decide: (call: Call) => CallFault | undefined = () => undefined;
  #calls = 0;
  #writes = 0;

  private constructor(
    private readonly address: string,
    private readonly delay: (method: string, path: string) => number,
  ) {}

  static async start({ upstreams, address, delay = () => 0 }: ProxyOptions): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(address, delay);
    proxy.#doors = await Promise.all(upstreams.map((upstream) => proxy.#open(upstream)));
    return proxy;
  }

  /**
   * Replaces the addresses of the APIs by the addresses of the proxy, in an entry of clouds.yaml or
   * in a catalog.
   */
  rewrite(written: string): string {
    return this.#doors.reduce((now, { upstream, server }) => {
      const whole = new RegExp(`${upstream.replaceAll(".", "\\.")}(?!\\d)`, "g");
      return now.replace(whole, `http://${this.address}:${portOf(server)}`);
    }, written);
  }

  /** Makes calls fail if `decide` returns a fault. Starts to count calls from 1 again. */
  fail(decide: (call: Call) => CallFault | undefined): void {
    [this.#decide, this.#calls, this.#writes] = [decide, 0, 0];
  }

  /** Stops making calls fail. */
  calm(): void {
    this.#decide = () => undefined;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#doors.map(({ server }) => {
        const closed = once(server, "close");
        server.close();
        server.closeAllConnections();
        return closed;
      }),
    );
  }

  async #open(upstream: string): Promise<Door> {
    const server = createServer((asked, answer) => {
      this.#take(upstream, asked, answer).catch(() => {
        // The API gave no answer, so the proxy closes the connection without an answer.
        asked.socket.destroy();
      });
    });
    // Never closes idle connections. A connection that closes while a client reuses it would be an
    // unintended fault.
    server.keepAliveTimeout = 0;
    server.listen(0, this.address);
    await once(server, "listening");
    return { upstream, server };
  }

  async #take(upstream: string, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const own = asked.socket.remoteAddress === this.address;
    this.seen.push({ method: asked.method ?? "", url: asked.url ?? "", upstream, own });
    const fault = this.#decide(this.#count(asked));
    if (fault !== undefined) this.failed.push(`${asked.method} ${pathOf(asked)}: ${fault}`);
    const milliseconds = this.delay(asked.method ?? "", pathOf(asked));
    if (milliseconds > 0) await pause(milliseconds);
    if (fault === undefined || fault === "lost") {
      const { status, headers, body } = await passOn(upstream, asked);
      if (fault === "lost") asked.socket.destroy();
      else {
        const said = signIn.test(pathOf(asked)) ? Buffer.from(this.rewrite(body.toString())) : body;
        answer.writeHead(status, withLength(headers, said, asked.method)).end(said);
      }
      return;
    }
    await text(asked);
    const message = `This call fails by ${fault}, as it was drawn.`;
    answer.writeHead(fault, { "content-type": "application/json" });
    answer.end(JSON.stringify({ error: { code: fault, title: message, message } }));
  }

  #count(asked: IncomingMessage): Call {
    const method = asked.method ?? "";
    this.#calls += 1;
    const writes =
      asked.socket.remoteAddress === this.address &&
      writing.has(method) &&
      !signIn.test(pathOf(asked));
    if (writes) this.#writes += 1;
    return { number: this.#calls, method, ...(writes && { write: this.#writes }) };
  }
}

const pathOf = ({ url = "" }: IncomingMessage): string => url.split("?")[0] ?? "";

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/**
 * Forwards a call to the API on a new connection, because the API may close an idle connection at
 * any time.
 */
async function passOn(upstream: string, asked: IncomingMessage): Promise<Answered> {
  const { method, headers, url } = asked;
  const passed = request(new URL(url ?? "/", upstream), {
    method,
    agent: false,
    setHost: false,
    headers: { ...headers, connection: "close" },
  });
  asked.pipe(passed);
  const [answered] = (await once(passed, "response")) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of answered) parts.push(part as Buffer);
  return {
    status: answered.statusCode ?? 502,
    headers: answered.headers,
    body: Buffer.concat(parts),
  };
}

/**
 * Headers that concern only one connection, so they are different on the two sides of the proxy.
 */
const carriage = new Set(["connection", "keep-alive", "transfer-encoding"]);

function withLength(
  headers: IncomingMessage["headers"],
  body: Buffer,
  method: string | undefined,
): IncomingMessage["headers"] {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !carriage.has(name)));
  // The answer to HEAD has a content length, but no body.
  if (method === "HEAD" || body.length === 0) return kept;
  return { ...kept, "content-length": String(body.length) };
}
