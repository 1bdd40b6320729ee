import { once } from "node:events";
import { createServer, request as send, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { pipeline, type Duplex } from "node:stream";

/**
 * HTTP proxy on the loopback interface, with tunnels (`CONNECT`). It resolves every host name to
 * 127.0.0.1, so a test can use hosts that only the proxy knows.
 */
export class ProxyServer {
  /** Method and target of each request to the proxy, in order. */
  readonly asked: string[] = [];
  /** Credentials (`user:password`) of each request, or "" without credentials. */
  readonly logins: string[] = [];
  /** Behaviour for requests: forwards them, refuses them with a status, hangs, or hangs up. */
  behaviour: "forward" | "hang" | "close" | number = "forward";
  readonly #tunnels: Duplex[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#note(request);
      if (this.behaviour === "hang") return;
      if (this.behaviour === "close") return void request.socket.destroy();
      if (this.behaviour !== "forward") return void response.writeHead(this.behaviour).end();
      const { pathname, search, port } = new URL(request.url ?? "");
      const { method, headers } = request;
      const options = { host: "127.0.0.1", port, path: pathname + search, method, headers };
      const forwarded = send(options, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    });
    this.#server.on("connect", (request: IncomingMessage, client: Duplex) => {
      this.#note(request);
      this.#tunnels.push(client);
      if (this.behaviour === "hang") return;
      if (this.behaviour === "close") return void client.destroy();
      if (this.behaviour !== "forward")
        return void client.end(`HTTP/1.1 ${String(this.behaviour)} No\r\n\r\n`);
      const [, port] = (request.url ?? "").split(":");
      const server = connect(Number(port), "127.0.0.1", () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n");
      });
      pipeline(client, server, client, () => undefined);
    });
  }

  static async open(): Promise<ProxyServer> {
    const proxy = new ProxyServer();
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Returns the URL of the proxy. @param login `user:password` */
  url(login = ""): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${login === "" ? "" : `${login}@`}127.0.0.1:${String(port)}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    for (const tunnel of this.#tunnels) tunnel.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #note({ method = "", url = "", headers }: IncomingMessage): void {
    this.asked.push(`${method} ${url}`);
    const [, basic = ""] = (headers["proxy-authorization"] ?? "").split(" ");
    this.logins.push(Buffer.from(basic, "base64").toString());
  }
}
