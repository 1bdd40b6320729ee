/** Logging in to look. Each machine may answer with one host key only; the login key is the ssh-agent's. */
import type { Duplex, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Client, type ClientChannel } from "ssh2";

/** A machine to log in to. */
export interface SshTarget {
  readonly host: string;
  /** Default: 22. */
  readonly port?: number;
  readonly user: string;
  /** `ssh-ed25519 AAAA...`: the only key that the machine may answer with. */
  readonly hostKey: string;
  /** Path of the agent's socket. Default: `SSH_AUTH_SOCK`. */
  readonly agentSocket?: string;
}

/** The way to a machine: from here, or through another one. */
export interface SshRoute extends SshTarget {
  readonly proxy?: SshTarget;
}

/** The machine is not the one that was asked for, or somebody is in between. */
export class HostKeyMismatch extends Error {
  constructor(host: string) {
    super(`${host} answers with another host key than the one it was given.`);
  }
}

const connectTimeout = 10_000;

/** How often a machine that is silent is asked whether it is there, in ms, and how often in vain. */
const keepalive = { keepaliveInterval: 5_000, keepaliveCountMax: 3 };

/** For machines to which much is sent: their answers queue behind it. */
export const patientKeepalive: typeof keepalive = {
  keepaliveInterval: 5_000,
  keepaliveCountMax: 36,
};

export type Patience = typeof keepalive & {
  /** Milliseconds until one is logged in. Default: {@link connectTimeout}. */
  readonly readyTimeout?: number;
};

/** Logs in, over `stream` if there is one. Throws {@link HostKeyMismatch}, or what the network or the machine says. */
export function logIn(
  target: SshTarget,
  stream?: Duplex,
  patience: Patience = keepalive,
): Promise<Client> {
  const [algorithm = "", encoded = ""] = target.hostKey.split(" ");
  const expected = Buffer.from(encoded, "base64");
  const client = new Client();
  let refused = false;
  // An sshd on the way keeps its channel half open when the machine's end of it has ended.
  stream?.once("end", () => stream.destroy());
  return new Promise((resolve, reject) => {
    client
      .once("ready", () => {
        resolve(client);
      })
      // It may say more than one, the last when its patience ends. After the login, "close" tells it.
      .on("error", (error) => {
        reject(refused ? new HostKeyMismatch(target.host) : error);
        client.destroy();
      })
      // A machine that hangs up before it said anything is no error to ssh2.
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
        // TCP says nothing of a machine that is gone: three questions without an answer end the connection.
        ...patience,
        // ssh2 types the list as known names; an unknown one is refused by it at run time.
        algorithms: { serverHostKey: [algorithm as "ssh-ed25519"] },
        hostVerifier: (key: Buffer) => {
          refused = !key.equals(expected);
          return !refused;
        },
      });
  });
}

/** A connection that begins on the machine and ends at `address`. */
export const forward = (client: Client, address: string, port: number): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    client.forwardOut("127.0.0.1", 0, address, port, (error, channel) => {
      if (error) reject(error);
      else resolve(channel);
    });
  });

interface Begun {
  readonly channel: ClientChannel;
  readonly closed: Promise<Ended>;
}

/** Heard from the first moment: of a command that is quick, the beginning and the end come in one piece. */
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
      const closed = new Promise<Ended>((done) => {
        channel.once("close", () => {
          done({ code, said });
        });
      });
      resolve({ channel, closed });
    });
  });

/** What a command on a machine reads and where what it prints goes. */
export interface Streams {
  /** @default nothing */
  readonly input?: Readable;
  readonly output: Writable;
}

/** How a command on a machine ended. */
export interface Ended {
  /** Undefined when a signal ended it, or the connection did. */
  readonly code: number | undefined;
  /** Standard error. */
  readonly said: string;
}

/** Runs a command on a machine. Throws what ended the streams, if nothing but that is known. */
export async function execute(
  client: Client,
  command: string,
  { input, output }: Streams,
): Promise<Ended> {
  const { channel, closed } = await begin(client, command);
  const reading = (input ? pipeline(input, channel) : Promise.resolve(channel.end())).then(
    () => undefined,
    (error: unknown) => error,
  );
  await pipeline(channel, output);
  const [unread, ended] = await Promise.all([reading, closed]);
  // A command that failed may not have read all: why, it says itself.
  if (ended.code === undefined && unread instanceof Error) throw unread;
  return ended;
}

/**
 * Who answers at the end of the way: the machine itself, another one, or nobody that lets us in; "the proxy alone" where the
 * one on the way does, but nobody behind it.
 */
export type Answer = "itself" | "wrong host key" | "the proxy alone" | "nobody";

/** How one looks who answers. */
export interface Look extends Pick<SshTarget, "agentSocket"> {
  /** Milliseconds for the whole way. Default: as long as each part of it takes. */
  readonly within?: number;
}

const patienceWithin = (within: number | undefined): Patience =>
  within === undefined ? keepalive : { ...keepalive, readyTimeout: within };

/** Logs in at the end of the way, over `stream` if there is one, and goes. */
async function touch(...login: Parameters<typeof logIn>): Promise<"itself"> {
  (await logIn(...login)).destroy();
  return "itself";
}

/** Goes the whole way to a machine once, and leaves nothing open. */
export async function whoAnswers(
  { proxy, ...target }: SshRoute,
  { within, ...agent }: Look = {},
): Promise<Answer> {
  let hop: Client | undefined;
  let stream: Duplex | undefined;
  const end = within === undefined ? undefined : AbortSignal.timeout(within);
  // What goes by it ends with it: to a machine that is silent it would wait for minutes.
  end?.addEventListener("abort", () => hop?.destroy());
  const patience = patienceWithin(within);
  try {
    if (!proxy) return await touch({ ...target, ...agent }, undefined, patience);
    hop = await logIn({ ...proxy, ...agent }, undefined, patience);
    end?.throwIfAborted();
    stream = await forward(hop, target.host, target.port ?? 22);
    return await touch({ ...target, ...agent }, stream, patience);
  } catch (error) {
    if (error instanceof HostKeyMismatch) return "wrong host key";
    return hop && !stream ? "the proxy alone" : "nobody";
  } finally {
    hop?.destroy();
  }
}
