import { connect, createServer, type Socket } from "node:net";

/** Load balancer of the user, outside of Octavia. */
export interface OwnBalancer {
  /** Addresses of the clients that connected. */
  readonly clients: ReadonlySet<string>;
  close(): Promise<void>;
}

/**
 * Starts a load balancer. It forwards each connection to the same port of the machine whose address
 * `behind` returns at this time. Without an address, the connection is closed.
 */
export async function startBalancer(
  host: string,
  port: number,
  behind: () => Promise<string | undefined>,
): Promise<OwnBalancer> {
  const clients = new Set<string>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const pass = async (client: Socket): Promise<void> => {
    const address = await behind().catch(() => undefined);
    if (address === undefined) {
      client.destroy();
      return;
    }
    const machine = connect(port, address);
    keep(machine);
    machine.on("error", () => client.destroy());
    machine.once("close", () => client.destroy());
    client.once("close", () => machine.destroy());
    client.pipe(machine).pipe(client);
  };
  const server = createServer((client) => {
    keep(client);
    clients.add(client.remoteAddress ?? "");
    client.on("error", () => client.destroy());
    void pass(client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return {
    clients,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
