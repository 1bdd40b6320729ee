import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { text } from "node:stream/consumers";
import type { Call, CallFault } from "./seed.js";

export interface ProxyOptions {
  /** Origins of the APIs behind it, like `http://172.29.0.2:5000`. */
  readonly upstreams: readonly string[];
  /** Address of this machine that clients reach; calls from itself are the program's. */
  readonly address: string;
  /** Milliseconds by which a call is passed on later, by its method and its path without a query. @default none */
  readonly delay?: (method: string, path: string) => number;
}

/** Where tokens and the catalogue with the addresses of all services come from. */
const signIn = /\/v3\/auth\//;
const writing = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** A call as the proxy saw it. */
export interface SeenCall {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  /** Origin of the API behind. */
  readonly upstream: string;
  /** Whether somebody on this machine made it; otherwise it is the cluster's own. */
  readonly own: boolean;
}

interface Door {
  readonly upstream: string;
  readonly server: Server;
}

/**
 * Stands before the APIs of a cloud in plain HTTP, one port for each, and lets calls fail. The Host header stays the client's, so
 * the addresses that a service puts into its answers lead through the proxy; in the catalogue they are rewritten.
 */
export class FaultyProxy {
  /** What failed, as `POST /v2.0/ports: 503`. */
  readonly failed: string[] = [];
  /** Every call, the oldest first. */
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

  /** A text in which the addresses of the APIs are the proxy's: an entry of clouds.yaml, a catalogue. */
  rewrite(written: string): string {
    return this.#doors.reduce((now, { upstream, server }) => {
      const whole = new RegExp(`${upstream.replaceAll(".", "\\.")}(?!\\d)`, "g");
      return now.replace(whole, `http://${this.address}:${portOf(server)}`);
    }, written);
  }

  /** From now on calls fail as it is decided; they are counted from here. */
  fail(decide: (call: Call) => CallFault | undefined): void {
    [this.#decide, this.#calls, this.#writes] = [decide, 0, 0];
  }

  /** From now on none fails. */
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
        // The API behind gave no answer, so there is none.
        asked.socket.destroy();
      });
    });
    // A connection that is closed while a client takes it up again would be a fault that nobody drew.
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

/** Asks the API behind, on a connection of its own: an idle one may be closed by the other side just then. */
async function passOn(upstream: string, asked: IncomingMessage): Promise<Answered> {
  const { method, headers, url } = asked;
  const passed = request(new URL(url ?? "/", upstream), {
    ...{ method, agent: false, setHost: false },
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

/** What says how an answer is carried, which is not the same before the proxy and behind. */
const carriage = new Set(["connection", "keep-alive", "transfer-encoding"]);

function withLength(
  headers: IncomingMessage["headers"],
  body: Buffer,
  method: string | undefined,
): IncomingMessage["headers"] {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !carriage.has(name)));
  // Of what HEAD asks about, only the length comes.
  if (method === "HEAD" || body.length === 0) return kept;
  return { ...kept, "content-length": String(body.length) };
}
