import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const prefix = "vault:v1:";

/**
 * Key service with the two requests of Vault's transit engine that Pulumi's `hashivault` secrets
 * provider uses. The ciphertext only wraps the plaintext, so that a test sees what was encrypted.
 */
export class TransitServer {
  /** Paths of all requests, in their order. */
  readonly requests: string[] = [];

  private constructor(private readonly server: Server) {
    server.on("request", (request: IncomingMessage, response) => {
      void this.#answer(request).then((data) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ data }));
      });
    });
  }

  static async start(): Promise<TransitServer> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return new TransitServer(server);
  }

  async #answer(request: IncomingMessage): Promise<Readonly<Record<string, string>>> {
    const path = request.url ?? "";
    const body = JSON.parse(await text(request)) as { plaintext?: string; ciphertext?: string };
    this.requests.push(path);
    return path.includes("/transit/encrypt/")
      ? { ciphertext: `${prefix}${body.plaintext ?? ""}` }
      : { plaintext: (body.ciphertext ?? "").slice(prefix.length) };
  }

  /** Environment variables with which an engine uses this server. */
  get environment(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      VAULT_SERVER_URL: `http://127.0.0.1:${String(port)}`,
      VAULT_SERVER_TOKEN: "engine-tests",
    };
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
