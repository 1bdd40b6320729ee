import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** Message types of BGP, and the length of the message header (RFC 4271, 4.1). */
const type = { open: 1, update: 2, keepalive: 4 } as const;
const header = 19;

const message = (kind: number, content: Buffer = Buffer.alloc(0)): Buffer => {
  const start = Buffer.alloc(header, 0xff);
  start.writeUInt16BE(header + content.length, 16);
  start.writeUInt8(kind, 18);
  return Buffer.concat([start, content]);
};

/** Returns an OPEN message: version 4, with IPv4 unicast as the only address family. */
const open = (asn: number): Buffer => {
  const capability = Buffer.from([2, 6, 1, 4, 0, 1, 0, 1]);
  const fixed = Buffer.from([4, asn >> 8, asn & 255, 0, 90, 192, 0, 2, 1, capability.length]);
  return message(type.open, Buffer.concat([fixed, capability]));
};

/**
 * Parses the ranges in an UPDATE message. Each range has a prefix length in bits, and then as many
 * bytes as this length needs.
 */
export function rangesOf(field: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < field.length;) {
    const bits = field.readUInt8(at);
    const bytes = Math.ceil(bits / 8);
    const address = Buffer.concat([field.subarray(at + 1, at + 1 + bytes), Buffer.alloc(4)]);
    found.push(`${[...address.subarray(0, 4)].join(".")}/${bits.toString()}`);
    at += 1 + bytes;
  }
  return found;
}

/** Returns the withdrawn and the announced ranges of an UPDATE (RFC 4271, 4.3). */
export function updateOf(content: Buffer): { withdrawn: string[]; told: string[] } {
  const attributes = 2 + content.readUInt16BE(0);
  const told = attributes + 2 + content.readUInt16BE(attributes);
  return {
    withdrawn: rangesOf(content.subarray(2, attributes)),
    told: rangesOf(content.subarray(told)),
  };
}

/**
 * BGP router outside of a cluster. It accepts sessions from all peers, announces nothing, and
 * records the announcements of the peers.
 */
export class BgpPeer {
  readonly #server: Server;
  readonly #sessions = new Map<Socket, Set<string>>();

  constructor(asn: number) {
    this.#server = createServer((socket) => {
      this.#take(socket, asn);
    });
  }

  /** Listens on this port, or on any free port if it is 0. Returns the port. */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((done, failed) => {
      this.#server.once("error", failed).listen(port, host, done);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the announced ranges, each with the number of open sessions that announced it. */
  told(): ReadonlyMap<string, number> {
    const all = [...this.#sessions.values()].flatMap((ranges) => [...ranges]);
    return new Map(all.map((range) => [range, all.filter((one) => one === range).length]));
  }

  close(): void {
    for (const socket of this.#sessions.keys()) socket.destroy();
    this.#server.close();
  }

  #take(socket: Socket, asn: number): void {
    const told = new Set<string>();
    let waiting = Buffer.alloc(0);
    this.#sessions.set(socket, told);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sessions.delete(socket));
    socket.on("data", (data: Buffer) => {
      waiting = Buffer.concat([waiting, data]);
      while (waiting.length >= header && waiting.length >= waiting.readUInt16BE(16)) {
        const end = waiting.readUInt16BE(16);
        const [kind, content] = [waiting.readUInt8(18), waiting.subarray(header, end)];
        waiting = waiting.subarray(end);
        if (kind === type.open) socket.write(Buffer.concat([open(asn), message(type.keepalive)]));
        // Answers each KEEPALIVE message, so that neither side closes the session.
        if (kind === type.keepalive) socket.write(message(type.keepalive));
        if (kind !== type.update) continue;
        const update = updateOf(content);
        for (const range of update.withdrawn) told.delete(range);
        for (const range of update.told) told.add(range);
      }
    });
  }
}
