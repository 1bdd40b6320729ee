import type { Duplex, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Client, type ClientChannel } from "ssh2";

/** Machine to log in to, with the only accepted host key. The ssh-agent has the login key. */
export interface SshTarget {
  readonly host: string;
  /** TCP port. Default: 22. */
  readonly port?: number;
  readonly user: string;
  /** Only host key that the machine may present: `ssh-ed25519 AAAA...`. */
  readonly hostKey: string;
  /** Path of the ssh-agent's socket. Default: `SSH_AUTH_SOCK`. */
  readonly agentSocket?: string;
}

/** Route to a machine: direct, or through a proxy. */
export interface SshRoute extends SshTarget {
  readonly proxy?: SshTarget;
}

/**
 * Error for an unexpected host key: the address belongs to another machine, or an attacker is in
 * between.
 */
export class HostKeyMismatch extends Error {
  constructor(host: string) {
    super(`${host} answers with another host key than the one it was given.`);
  }
}

const connectTimeout = 10_000;

/**
 * Interval of keepalive requests in milliseconds, and the number of unanswered requests after which
 * the connection ends.
 */
const keepalive = { keepaliveInterval: 5_000, keepaliveCountMax: 3 };

/**
 * Keepalive for machines that receive much data: answers to keepalive requests wait behind the
 * data.
 */
export const patientKeepalive: typeof keepalive = {
  keepaliveInterval: 5_000,
  keepaliveCountMax: 36,
};

export type Patience = typeof keepalive & {
  /** Milliseconds for the login. Default: {@link connectTimeout}. */
  readonly readyTimeout?: number;
};

/**
 * Logs in to the machine, over `stream` if given. Throws {@link HostKeyMismatch}, or the error of
 * the network or of the machine.
 */
export function logIn(
  target: SshTarget,
  stream?: Duplex,
  patience: Patience = keepalive,
): Promise<Client> {
  const [algorithm = "", encoded = ""] = target.hostKey.split(" ");
  const expected = Buffer.from(encoded, "base64");
  const client = new Client();
  let refused = false;
  // When the machine closes the connection, the proxy's sshd leaves the channel half open.
  stream?.once("end", () => stream.destroy());
  return new Promise((resolve, reject) => {
    client
      .once("ready", () => {
        resolve(client);
      })
      // There may be several errors, the last at the keepalive limit. After the login, the event
      // "close" tells the caller about an error.
      .on("error", (error) => {
        reject(refused ? new HostKeyMismatch(target.host) : error);
        client.destroy();
      })
      // ssh2 reports no error if the machine closes the connection before it sends anything.
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
        // TCP does not detect a machine that disappears. Unanswered keepalive requests end the
        // connection.
        ...patience,
        // The type allows only known names of algorithms; ssh2 checks the name at run time.
        algorithms: { serverHostKey: [algorithm as "ssh-ed25519"] },
        hostVerifier: (key: Buffer) => {
          refused = !key.equals(expected);
          return !refused;
        },
      });
  });
}

/** Opens a TCP connection to `address` from the machine. */
export const forward = (client: Client, address: string, port: number): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    client.forwardOut("127.0.0.1", 0, address, port, (error, channel) => {
      if (error) reject(error);
      else resolve(channel);
    });
  });

interface Begun {
  readonly channel: ClientChannel;
  readonly closed: Promise<CommandResult>;
}

/**
 * Starts a command. Adds the listeners at once, because output and end of a quick command arrive
 * together.
 */
const begin = (client: Client, command: string): Promise<Begun> =>
  new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error);
        return;
      }
      let said = "";
      let code: number | undefined;
      channel.stderr.setEncoding("utf8").on("data", (part: string) => (said += part));
      channel.once("exit", (ended: number | null) => (code = ended ?? undefined));
      const closed = new Promise<CommandResult>((done) => {
        channel.once("close", () => {
          done({ code, said });
        });
      });
      resolve({ channel, closed });
    });
  });

/** Input and output of a command on a machine. */
export interface Streams {
  /** Standard input. @default nothing */
  readonly input?: Readable;
  readonly output: Writable;
}

/** Result of a command on a machine. */
export interface CommandResult {
  /** Exit code. Undefined if a signal or the connection ended the command. */
  readonly code: number | undefined;
  /** Standard error. */
  readonly said: string;
}

/**
 * Runs a command on a machine. If the command has no exit code, throws the error of the streams, if
 * any.
 */
export async function execute(
  client: Client,
  command: string,
  { input, output }: Streams,
): Promise<CommandResult> {
  const { channel, closed } = await begin(client, command);
  const reading = (input ? pipeline(input, channel) : Promise.resolve(channel.end())).then(
    () => undefined,
    (error: unknown) => error,
  );
  await pipeline(channel, output);
  const [unread, ended] = await Promise.all([reading, closed]);
  // A failed command may not have read all input. The command's own message then explains more than
  // the error of the stream.
  if (ended.code === undefined && unread instanceof Error) throw unread;
  return ended;
}

/**
 * Result of a login test: login to the machine, another host key, login only to the proxy, or no
 * login.
 */
export type LoginProbeResult = "itself" | "wrong host key" | "the proxy alone" | "nobody";

/** Logs in, over `stream` if given, and disconnects. */
async function touch(...login: Parameters<typeof logIn>): Promise<"itself"> {
  (await logIn(...login)).destroy();
  return "itself";
}

/**
 * Tests the login to a machine once, through the proxy if there is one, and closes all connections.
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
    stream = await forward(hop, target.host, target.port ?? 22);
    return await touch({ ...target, ...agent }, stream);
  } catch (error) {
    if (error instanceof HostKeyMismatch) return "wrong host key";
    return hop && !stream ? "the proxy alone" : "nobody";
  } finally {
    hop?.destroy();
  }
}
