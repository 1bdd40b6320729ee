/** Connects to an SSH server, directly or through a proxy, with the official plugin's retries. */
import { connect as connectSocket } from "node:net";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "ssh2";
import type { ResourceOperation } from "./context.js";
import type { SshConnectionInputs, SshEndpointInputs } from "./inputs.js";
import { createConnectConfig, readSshCredentials } from "./ssh-auth.js";
import type { SshCredentials } from "./ssh-auth.js";
import {
  createChannelError,
  createDialError,
  createDialTimeoutError,
  createHandshakeError,
} from "./ssh-errors.js";

/**
 * Pause after the first failed attempt, growth factor of the pause, and longest pause. All are the
 * defaults of Pulumi's retry function.
 */
const firstPauseMs = 100;
const pauseGrowth = 1.5;
const longestPauseMs = 5000;

/**
 * Time without traffic until the kernel asks whether the peer still exists, as in Go's `net.Dial`.
 * Go gives up a dead peer after 150 s, Node after 25 s. A connection through a proxy has no such
 * probes, here and in the official plugin.
 */
const keepAliveMs = 15_000;

export interface SshSession {
  readonly client: Client;
  /** Closes the connection, and the connection to the proxy. */
  close(): void;
}

/**
 * Tries to connect until a connection succeeds. Throws when more attempts fail than the limit
 * allows, or when the signal is aborted.
 */
export async function dial(
  connection: SshConnectionInputs,
  operation: ResourceOperation,
  agentSocket: string | undefined,
): Promise<SshSession> {
  const who = await readSshCredentials(connection, agentSocket);
  const { proxy } = connection;
  if (proxy) return dialThrough({ proxy, who, operation, agentSocket });
  const client = await withRetries("Dial", connection.dialErrorLimit, operation, () =>
    dialOnce(who),
  );
  return {
    client,
    close: () => {
      client.end();
    },
  };
}

interface ProxiedDial {
  readonly proxy: SshEndpointInputs;
  readonly who: SshCredentials;
  readonly operation: ResourceOperation;
  readonly agentSocket: string | undefined;
}

async function dialThrough({
  proxy,
  who,
  operation,
  agentSocket,
}: ProxiedDial): Promise<SshSession> {
  const limit = who.endpoint.dialErrorLimit;
  let first: Client | undefined;
  try {
    const proxyWho = await readSshCredentials(proxy, agentSocket);
    const hop = await withRetries("Dial proxy", proxy.dialErrorLimit, operation, () =>
      dialOnce(proxyWho),
    );
    first = hop;
    const stream = await withRetries("Dial from proxy", limit, operation, () =>
      forward(hop, who.endpoint),
    );
    // Retries a failed handshake on the same stream, like the official plugin. This retry cannot
    // succeed. Programs must be able to handle the resulting error with the stand-in too.
    const client = await withRetries("Dial", limit, operation, () => handshake(stream, who));
    return {
      client,
      close: () => {
        client.end();
        hop.end();
      },
    };
  } catch (error) {
    first?.end();
    if (operation.signal.aborted) throw error;
    throw new Error(`proxy: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function withRetries<T>(
  what: string,
  limit: number,
  operation: ResourceOperation,
  attempt: () => Promise<T>,
): Promise<T> {
  const shownLimit = limit === -1 ? "inf" : String(limit);
  let pause = firstPauseMs;
  for (let dials = 1; ; dials++) {
    operation.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (limit > -1 && dials > limit) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`after ${dials - 1} failed attempts: ${reason}`, { cause: error });
      }
    }
    operation.status(`${what} ${dials}/${shownLimit} failed: retrying`);
    await delay(pause, undefined, { signal: operation.signal }).catch(() => {
      operation.signal.throwIfAborted();
    });
    pause = Math.min(pause * pauseGrowth, longestPauseMs);
  }
}

async function dialOnce(who: SshCredentials): Promise<Client> {
  return handshake(await openSocket(who.endpoint), who);
}

function openSocket({ host, port, perDialTimeout }: SshEndpointInputs): Promise<Socket> {
  const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host, port });
    const timer =
      perDialTimeout > 0
        ? setTimeout(() => {
            socket.destroy(createDialTimeoutError("tcp", address));
          }, perDialTimeout * 1000)
        : undefined;
    const onError = (error: Error): void => {
      clearTimeout(timer);
      reject(error.message.startsWith("dial ") ? error : createDialError("tcp", address, error));
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.off("error", onError);
      socket.setKeepAlive(true, keepAliveMs);
      resolve(socket);
    });
  });
}

function forward(hop: Client, { host, port }: SshEndpointInputs): Promise<Duplex> {
  return new Promise<Duplex>((resolve, reject) => {
    hop.forwardOut("127.0.0.1", 0, host, port, (error, stream) => {
      if (error) reject(error);
      else resolve(stream);
    });
  }).catch((error: unknown) => {
    throw createChannelError(error);
  });
}

/**
 * Streams on which a handshake failed. A channel of the ssh2 library does not report that it was
 * destroyed, so the stand-in must remember these streams.
 */
const spent = new WeakSet<Duplex>();

function handshake(stream: Duplex, who: SshCredentials): Promise<Client> {
  if (spent.has(stream)) return Promise.reject(createHandshakeError(new Error("EOF")));
  return new Promise((resolve, reject) => {
    const client = new Client();
    const fail = (error: Error): void => {
      reject(error);
      spent.add(stream);
      stream.destroy();
    };
    client.on("error", (error) => {
      // Before "ready", an error is the reason why the handshake failed. After "ready", the code
      // that uses the session gets the event "close" instead.
      fail(createHandshakeError(error));
    });
    client.once("close", () => {
      fail(createHandshakeError(new Error("EOF")));
    });
    // If the machine closes its side, the sshd of the proxy keeps the channel half open. The SSH
    // session is over at this point, so the stream is destroyed.
    stream.once("end", () => {
      stream.destroy();
    });
    client.once("ready", () => {
      resolve(client);
    });
    client.connect({ ...createConnectConfig(who, fail), sock: stream });
  });
}
