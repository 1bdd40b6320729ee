import type { Duplex, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Client, type ClientChannel } from "ssh2";

/** Machine for a login over SSH, with its host key. The login key is in the ssh-agent. */
export interface SshTarget {
  readonly host: string;
  /** TCP port. Default: 22. */
  readonly port?: number;
  readonly user: string;
  /**
   * Public host key of the machine: `ssh-ed25519 AAAA...`. The login fails if the machine has
   * another key.
   */
  readonly hostKey: string;
  /** Path of the ssh-agent's socket. Default: `SSH_AUTH_SOCK`. */
  readonly agentSocket?: string;
}

/**
 * Machine for a login over SSH, and the proxy (bastion) on the way. Without `proxy`, the connection
 * is direct.
 */
export interface SshRoute extends SshTarget {
  readonly proxy?: SshTarget;
}

/**
 * Error for an unexpected host key. Either another machine has the address, or an attacker
 * intercepts the connection.
 */
export class HostKeyMismatch extends Error {
  constructor(host: string) {
    super(`${host} answers with another host key than the one it was given.`);
  }
}

const connectTimeout = 10_000;

/**
 * Milliseconds between two keepalive requests, and number of unanswered requests after which the
 * client closes the connection.
 */
const keepalive = { keepaliveInterval: 5_000, keepaliveCountMax: 3 };

/**
 * Keepalive for a machine that receives much data. The machine answers a keepalive request only
 * after it has received the data that was sent before.
 */
export const patientKeepalive: typeof keepalive = {
  keepaliveInterval: 5_000,
  keepaliveCountMax: 36,
};

export type KeepaliveSettings = typeof keepalive & {
  /** Milliseconds for the login. Default: {@link connectTimeout}. */
  readonly readyTimeout?: number;
};

/**
 * Logs in to the machine. Uses the connection `stream` if it is set. Throws {@link HostKeyMismatch}
 * or the error of the connection or the login.
 */
export function logIn(
  target: SshTarget,
  stream?: Duplex,
  settings: KeepaliveSettings = keepalive,
): Promise<Client> {
  const [algorithm = "", encoded = ""] = target.hostKey.split(" ");
  const expected = Buffer.from(encoded, "base64");
  const client = new Client();
  let refused = false;
  // When the machine closes the connection, the proxy's sshd leaves the channel half open. The
  // stream must therefore be destroyed here.
  stream?.once("end", () => stream.destroy());
  return new Promise((resolve, reject) => {
    client
      .once("ready", () => {
        resolve(client);
      })
      // This listener is kept after the login, because later errors may follow, such as a missed
      // keepalive. After the login, `reject` has no effect, and the caller gets the event "close".
      .on("error", (error) => {
        reject(refused ? new HostKeyMismatch(target.host) : error);
        client.destroy();
      })
      // ssh2 reports no error if the machine closes the connection before it sends any data.
      .once("close", () => {
        reject(new Error("it closed the connection"));
      })
      .connect({
        host: target.host,
        port: target.port ?? 22,
        ...(stream && { sock: stream }),
        username: target.user,
        agent: target.agentSocket ?? process.env["SSH_AUTH_SOCK"],
        readyTimeout: connectTimeout,
        // TCP alone does not detect that a machine has disappeared. Keepalive requests detect it.
        ...settings,
        // The type of this option allows only known algorithms. ssh2 checks the name at run time.
        algorithms: { serverHostKey: [algorithm as "ssh-ed25519"] },
        hostVerifier: (key: Buffer) => {
          refused = !key.equals(expected);
          return !refused;
        },
      });
  });
}

/** Opens a TCP connection from the machine to `address`. */
export const openTcpConnectionFromMachine = (
  client: Client,
  address: string,
  port: number,
): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    client.forwardOut("127.0.0.1", 0, address, port, (error, channel) => {
      if (error) reject(error);
      else resolve(channel);
    });
  });

interface Begun {
  readonly channel: ClientChannel;
  readonly closed: Promise<RemoteCommandResult>;
}

/**
 * Starts a command. Adds all listeners immediately, because a short command may send its output and
 * its end at the same time.
 */
const begin = (client: Client, command: string): Promise<Begun> =>
  new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error);
        return;
      }
      let stderr = "";
      let code: number | undefined;
      channel.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
      channel.once("exit", (ended: number | null) => (code = ended ?? undefined));
      const closed = new Promise<RemoteCommandResult>((done) => {
        channel.once("close", () => {
          done({ code, said: stderr });
        });
      });
      resolve({ channel, closed });
    });
  });

/** Input and output of a command on a machine. */
export interface RemoteCommandStreams {
  /** Standard input. @default no input */
  readonly input?: Readable;
  readonly output: Writable;
  /** Called when data of the command's input, output or standard error were transferred. */
  readonly onData?: () => void;
}

/** Result of a command on a machine. */
export interface RemoteCommandResult {
  /** Exit code. Undefined if a signal or a broken connection ended the command. */
  readonly code: number | undefined;
  /** Text on standard error. */
  readonly said: string;
}

/**
 * Runs a command on a machine. If the command ends without an exit code and its input could not be
 * written, throws the error of the input.
 */
export async function runRemoteCommand(
  client: Client,
  command: string,
  { input, output, onData }: RemoteCommandStreams,
): Promise<RemoteCommandResult> {
  const { channel, closed } = await begin(client, command);
  if (onData) for (const stream of [input, channel, channel.stderr]) stream?.on("data", onData);
  const reading = (input ? pipeline(input, channel) : Promise.resolve(channel.end())).then(
    () => undefined,
    (error: unknown) => error,
  );
  await pipeline(channel, output);
  const [unread, ended] = await Promise.all([reading, closed]);
  // A command that fails may not read all its input. The input's error is then ignored, because the
  // command's own message says more.
  if (ended.code === undefined && unread instanceof Error) throw unread;
  return ended;
}

/**
 * Result of a login test: successful login to the machine, unexpected host key, successful login
 * only to the proxy, or no login.
 */
export type LoginProbeResult = "itself" | "wrong host key" | "the proxy alone" | "no answer";

/** Logs in and disconnects. Uses the connection `stream` if it is set. */
async function touch(...login: Parameters<typeof logIn>): Promise<"itself"> {
  (await logIn(...login)).destroy();
  return "itself";
}

/**
 * Tests once whether a login to the machine works. Uses the proxy, if there is one. Closes all
 * connections.
 */
export async function probeLogin(
  { proxy, ...target }: SshRoute,
  agent: Pick<SshTarget, "agentSocket"> = {},
): Promise<LoginProbeResult> {
  let hop: Client | undefined;
  let stream: Duplex | undefined;
  try {
    if (!proxy) return await touch({ ...target, ...agent });
    hop = await logIn({ ...proxy, ...agent });
    stream = await openTcpConnectionFromMachine(hop, target.host, target.port ?? 22);
    return await touch({ ...target, ...agent }, stream);
  } catch (error) {
    if (error instanceof HostKeyMismatch) return "wrong host key";
    return hop && !stream ? "the proxy alone" : "no answer";
  } finally {
    hop?.destroy();
  }
}
