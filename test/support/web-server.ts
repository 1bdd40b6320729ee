import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo } from "node:net";
import { pipeline, type Duplex } from "node:stream";

/** Answer to requests for a path. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Key and certificate in PEM. */
export interface Certified {
  readonly key: string;
  readonly cert: string;
}

/**
 * Web server on the loopback interface that returns the given answers. It is also a proxy that
 * forwards requests to other servers.
 */
export class WebServer {
  /** Method and target of each request, in order. */
  readonly asked: string[] = [];
  /**
   * Credentials (`user:password`) of each request, or "" without credentials. The order is that of
   * `asked`, without the requests to the proxy.
   */
  readonly logins: string[] = [];
  readonly #answers = new Map<string, Answer>();
  readonly #tunnels: Duplex[] = [];
  readonly #server: Server;

  private constructor(private readonly certified: Certified | undefined) {
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#answer(request, response);
    };
    this.#server = certified ? createTlsServer(certified, answer) : createServer(answer);
    this.#server.on("connect", ({ url = "" }: IncomingMessage, client: Duplex) => {
      this.asked.push(`CONNECT ${url}`);
      const [host, port] = url.split(":");
      const server = connect(Number(port), host, () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n");
      });
      pipeline(client, server, client, () => undefined);
      this.#tunnels.push(client);
    });
  }

  /** Returns the requests except HEAD, because prepare.sh uses HEAD only to read the time. */
  get downloads(): readonly string[] {
    return this.asked.filter((line) => !line.startsWith("HEAD "));
  }

  static async open(certified?: Certified): Promise<WebServer> {
    const server = new WebServer(certified);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /**
   * Returns the URL without a trailing slash. Clients treat `localhost` and 127.0.0.1 as different
   * hosts.
   */
  url(host = "127.0.0.1"): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.certified ? "https" : "http"}://${host}:${String(port)}`;
  }

  answer(path: string, answer: Answer | string | Buffer): void {
    const whole = typeof answer === "string" || Buffer.isBuffer(answer) ? { body: answer } : answer;
    this.#answers.set(path, whole);
  }

  redirect(path: string, location: string): void {
    const body = `<html><a href="${location}">Found</a></html>\n`;
    this.answer(path, { status: 302, headers: { location, "content-type": "text/html" }, body });
  }

  #answer(
    { method = "", url = "", headers: sent }: IncomingMessage,
    response: ServerResponse,
  ): void {
    this.asked.push(`${method} ${url}`);
    const [, basic = ""] = (sent.authorization ?? "").split(" ");
    this.logins.push(Buffer.from(basic, "base64").toString());
    // A client sends an absolute URL if this server is its proxy.
    const { pathname } = new URL(url, "http://here");
    const { status = 200, headers = {}, body } = this.#answers.get(pathname) ?? { status: 404 };
    response.writeHead(status, headers);
    response.end(body);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    for (const tunnel of this.#tunnels) tunnel.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
