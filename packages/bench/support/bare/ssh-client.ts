import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Duplex } from "node:stream";
import type { Client } from "ssh2";
import { openTcpConnectionFromMachine, logIn } from "../../../../base/ssh-client.js";
import type { SshHop, Script } from "./run-without-engine.js";

/**
 * Times in milliseconds: how long the client tries to connect to a machine (`patience`), the
 * duration of one attempt (`dial`), and the time between two attempts (`pause`).
 */
const times = { patience: 300_000, dial: 700, pause: 100 };

/** Returns the promise's value. Throws if the promise takes longer than one attempt to connect. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = pause(times.dial, undefined, { signal: over.signal }).then(() => {
    throw new Error("no machine answered in time");
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

/**
 * Opens a TCP connection with a short timeout. Without the timeout, the kernel would wait a second
 * before it sends the first packet again to a machine that is not up yet.
 */
const dial = (host: string, port: number): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const giveUp = (): void => {
      socket.destroy(new Error(`${host} does not answer`));
    };
    socket.setTimeout(times.dial, giveUp);
    socket.once("error", reject).once("connect", () => {
      socket.setTimeout(0).off("error", reject);
      resolve(socket);
    });
  });

/** Returns the standard output of a script. Throws if the script exits with an error. */
const runOn = (client: Client, command: string, input: string): Promise<string> =>
  new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error);
        return;
      }
      let [said, complained] = ["", ""];
      channel.setEncoding("utf8").on("data", (part: string) => (said += part));
      channel.stderr.setEncoding("utf8").on("data", (part: string) => (complained += part));
      channel.once("close", (code: number | null) => {
        if (code === 0) resolve(said);
        else reject(new Error(`A script ended with ${String(code)}:\n${complained.slice(-2000)}`));
      });
      channel.end(input);
    });
  });

/** SSH client that keeps one connection to each machine. */
export class BareSshClient {
  readonly #clients = new Map<string, Promise<Client>>();

  /** @param port port of the SSH server on every machine */
  constructor(
    private readonly agentSocket: string,
    private readonly port = 22,
  ) {}

  async run({ hop, command, input }: Pick<Script, "hop" | "command" | "input">): Promise<string> {
    return runOn(await this.#client(hop), command, input);
  }

  close(): void {
    for (const client of this.#clients.values())
      client.then(
        (one) => one.destroy(),
        () => undefined,
      );
    this.#clients.clear();
  }

  /**
   * Returns the connection to a machine. The key of a connection is the host key, because a machine
   * may have several addresses.
   */
  #client(hop: SshHop): Promise<Client> {
    const known = this.#clients.get(hop.hostKey);
    if (known) return known;
    const made = this.#reach(hop);
    this.#clients.set(hop.hostKey, made);
    made.then(
      (client) => client.once("close", () => this.#clients.delete(hop.hostKey)),
      () => this.#clients.delete(hop.hostKey),
    );
    return made;
  }

  /** Tries to connect until the machine accepts the login. */
  async #reach(hop: SshHop): Promise<Client> {
    const { host, user, hostKey, proxy } = hop;
    const { agentSocket, port } = this;
    const end = Date.now() + times.patience;
    for (;;) {
      try {
        const stream = proxy
          ? await soon(openTcpConnectionFromMachine(await this.#client(proxy), host, port))
          : await dial(host, port);
        return await logIn({ host, port, user, hostKey, agentSocket }, stream);
      } catch (error) {
        if (Date.now() > end) throw error;
        await pause(times.pause);
      }
    }
  }
}
