import { createServer, type Server as TcpServer } from "node:net";
import type { Duplex } from "node:stream";
import { Server, type Connection, type ServerChannel } from "ssh2";
import type { Host } from "./objects.js";

export interface MachinesOptions {
  /** The machine at an address of the network. */
  readonly hostAt: (address: string) => Host | undefined;
  /** The one that is reached from outside. */
  readonly entry: () => Host | undefined;
  /** What a script on a machine ends with. */
  readonly run: (host: Host, input: string) => object;
}

/**
 * SSH servers of machines that are none: each has the host key that its user data names, lets everybody in who has a key, leads to the
 * others, and runs nothing: whatever script comes, or is copied there, is answered at once.
 */
export class FakeMachines {
  /** Scripts that came. */
  scripts = 0;
  /** What the last script on each ended with, which is read there by whoever copied it there. */
  readonly #said = new Map<string, object>();
  readonly #servers = new Map<string, Server>();
  readonly #listener: TcpServer;

  private constructor(private readonly options: MachinesOptions) {
    this.#listener = createServer((socket) => {
      const host = options.entry();
      socket.on("error", () => undefined);
      if (host) this.#serve(host, socket);
      else socket.destroy();
    });
  }

  /** @param address where the one is that is reached from outside */
  static async start(address: string, options: MachinesOptions): Promise<FakeMachines> {
    const machines = new FakeMachines(options);
    await new Promise<void>((ready) => machines.#listener.listen(22, address, ready));
    return machines;
  }

  #serve(host: Host, stream: Duplex): void {
    let server = this.#servers.get(host.serverId);
    if (!server) {
      server = new Server({ hostKeys: [host.hostKey] }, (client) => {
        this.#accept(host, client);
      });
      this.#servers.set(host.serverId, server);
    }
    // Any stream will do, not a socket alone.
    (server as unknown as { injectSocket(stream: Duplex): void }).injectSocket(stream);
  }

  #accept(host: Host, client: Connection): void {
    client.on("error", () => undefined);
    client.on("authentication", (context) => {
      if (context.method === "publickey") context.accept();
      else context.reject(["publickey"]);
    });
    client.on("session", (acceptSession) => {
      const session = acceptSession();
      // Terraform asks for a terminal where it runs what it has copied.
      session.on("pty", (accept) => {
        accept();
      });
      session.on("exec", (accept, _reject, { command }) => {
        this.#execute(host, command, accept());
      });
    });
    client.on("tcpip", (accept, reject, { destIP }) => {
      const target = this.options.hostAt(destIP);
      if (target) this.#serve(target, accept());
      else reject();
    });
  }

  #execute(host: Host, command: string, channel: ServerChannel): void {
    const parts: Buffer[] = [];
    channel.on("error", () => undefined);
    channel.on("data", (part: Buffer) => parts.push(part));
    // Whoever copies a file waits for a byte before it, in it and after it.
    const copied = /^'?scp\b/.test(command);
    if (copied) channel.write("\0\0\0");
    channel.once("end", () => {
      const script = Buffer.concat(parts).toString("utf8");
      // In the end Terraform copies nothing over it.
      if (copied ? !/^C\d+ 0 /.test(script) : command.startsWith("sudo ")) this.#take(host, script);
      if (!copied) channel.write(`${JSON.stringify(this.#said.get(host.serverId) ?? {})}\n`);
      channel.exit(0);
      channel.end();
    });
  }

  #take(host: Host, script: string): void {
    this.scripts += 1;
    this.#said.set(host.serverId, this.options.run(host, script));
  }
}
