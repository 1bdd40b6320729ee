import { createServer, type Server as TcpServer } from "node:net";
import type { Duplex } from "node:stream";
import { Server, type Connection, type ServerChannel } from "ssh2";
import type { FakeMachine } from "./fake-openstack-project.js";

export interface FakeMachinesOptions {
  /** Returns the machine that has this address in the fake network. */
  readonly hostAt: (address: string) => FakeMachine | undefined;
  /** Returns the machine to which the floating IP leads. */
  readonly entry: () => FakeMachine | undefined;
  /** Returns the output of a script on a machine. */
  readonly run: (host: FakeMachine, input: string) => object;
}

/**
 * SSH servers of fake machines. Each server has the host key from the machine's user data, accepts
 * every public key and forwards connections to the other machines. The servers run no scripts, and
 * answer each script at once.
 */
export class FakeMachines {
  /** Number of scripts received. */
  scripts = 0;
  /**
   * Output of the last script on each machine. If a script was copied, a later command reads the
   * output of the script.
   */
  readonly #said = new Map<string, object>();
  readonly #servers = new Map<string, Server>();
  readonly #listener: TcpServer;

  private constructor(private readonly options: FakeMachinesOptions) {
    this.#listener = createServer((socket) => {
      const host = options.entry();
      socket.on("error", () => undefined);
      if (host) this.#serve(host, socket);
      else socket.destroy();
    });
  }

  /** @param address address on which the machine behind the floating IP accepts connections */
  static async start(address: string, options: FakeMachinesOptions): Promise<FakeMachines> {
    const machines = new FakeMachines(options);
    await new Promise<void>((ready) => machines.#listener.listen(22, address, ready));
    return machines;
  }

  #serve(host: FakeMachine, stream: Duplex): void {
    let server = this.#servers.get(host.serverId);
    if (!server) {
      server = new Server({ hostKeys: [host.hostKey] }, (client) => {
        this.#accept(host, client);
      });
      this.#servers.set(host.serverId, server);
    }
    // The SSH server accepts any stream, although the type of `injectSocket` allows only a socket.
    (server as unknown as { injectSocket(stream: Duplex): void }).injectSocket(stream);
  }

  #accept(host: FakeMachine, client: Connection): void {
    client.on("error", () => undefined);
    client.on("authentication", (context) => {
      if (context.method === "publickey") context.accept();
      else context.reject(["publickey"]);
    });
    client.on("session", (acceptSession) => {
      const session = acceptSession();
      // Terraform requests a terminal for scripts that it has copied to the machine.
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

  #execute(host: FakeMachine, command: string, channel: ServerChannel): void {
    const parts: Buffer[] = [];
    channel.on("error", () => undefined);
    channel.on("data", (part: Buffer) => parts.push(part));
    // The scp client waits for a zero byte before, during and after the copy of a file.
    const copied = /^'?scp\b/.test(command);
    if (copied) channel.write("\0\0\0");
    channel.once("end", () => {
      const script = Buffer.concat(parts).toString("utf8");
      // In the end, Terraform overwrites the copied file with an empty file. The empty file is not
      // counted.
      if (copied ? !/^C\d+ 0 /.test(script) : command.startsWith("sudo ")) this.#take(host, script);
      if (!copied) channel.write(`${JSON.stringify(this.#said.get(host.serverId) ?? {})}\n`);
      channel.exit(0);
      channel.end();
    });
  }

  #take(host: FakeMachine, script: string): void {
    this.scripts += 1;
    this.#said.set(host.serverId, this.options.run(host, script));
  }
}
