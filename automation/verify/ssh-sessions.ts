import { request } from "node:http";
import type { Duplex } from "node:stream";
import type { Client } from "ssh2";
import {
  runRemoteCommand,
  openTcpConnectionFromMachine,
  HostKeyMismatch,
  logIn,
  type RemoteCommandResult,
  type KeepaliveSettings,
  type SshRoute,
  type SshTarget,
  type RemoteCommandStreams,
} from "../../base/ssh-client.js";
import { Failure } from "../../base/failures/failure.js";

async function connect(
  target: SshTarget,
  stream: Duplex | undefined,
  keepalive: KeepaliveSettings | undefined,
): Promise<Client> {
  try {
    return await logIn(target, stream, keepalive);
  } catch (error) {
    if (error instanceof HostKeyMismatch) throw new Failure("HOST_KEY_MISMATCH", error.message);
    throw new Failure(
      "SSH_UNREACHABLE",
      `${target.host} cannot be reached by SSH: ${reasonOf(error)}.`,
    );
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

async function open(client: Client, address: string, port: number): Promise<Duplex> {
  try {
    return await openTcpConnectionFromMachine(client, address, port);
  } catch (error) {
    throw new Failure("FAILED", `${address}:${port} cannot be reached: ${reasonOf(error)}.`);
  }
}

export interface FetchResult {
  readonly status: number;
  readonly body: string;
}

const get = (
  createConnection: () => Duplex,
  to: { readonly host: string; readonly port: number; readonly path: string },
): Promise<FetchResult> =>
  new Promise((resolve, reject) => {
    const call = request({ ...to, createConnection }, (answer) => {
      let body = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => (body += part));
      answer.once("error", reject);
      answer.once("end", () => {
        resolve({ status: answer.statusCode ?? 0, body });
      });
    });
    call.once("error", reject);
    call.end();
  });

/** Time limit in milliseconds for one request, including the login. */
const requestTimeout = 15_000;

export interface FetchOptions {
  /** Port of the server. @default 80 */
  readonly port?: number;
  /** Path of the request. @default / */
  readonly path?: string;
  /** Time limit in milliseconds. @default 15 000 */
  readonly timeout?: number;
  /** Value of the Host header. @default the address */
  readonly host?: string | undefined;
}

/**
 * Longest time in milliseconds in which a command transfers no data, with `timeoutFactor` 1. etcd may
 * need up to an hour for a snapshot (automation/backup/scripts/collect-backup.sh).
 */
export const commandSilenceMilliseconds = 90 * 60_000;

/** SSH sessions to machines. All requests to a machine use the same session. */
export class SshSessions {
  readonly #clients = new Map<string, Promise<Client>>();
  #closed = false;

  /**
   * Creates an object without open sessions.
   *
   * @param patience time limits for a machine that does not answer. @default 15 s of silence
   * @param commandSilence longest time in milliseconds in which a command transfers no data
   */
  constructor(
    private readonly patience?: KeepaliveSettings,
    private readonly commandSilence = commandSilenceMilliseconds,
  ) {}

  /** Sends a GET to `http://<address>:<port><path>` through the machine and returns the answer. */
  async fetch(target: SshRoute, address: string, options: FetchOptions = {}): Promise<FetchResult> {
    const { port = 80, path = "/", timeout = requestTimeout, host = address } = options;
    const work = async (): Promise<FetchResult> => {
      const channel = await open(await this.#client(target), address, port);
      return get(() => channel, { host, port, path });
    };
    return within(timeout, work(), `${address}:${port} does not answer to ${target.host}.`);
  }

  /** Logs in to the machine, unless a session to it is open. */
  async logIn(target: SshRoute): Promise<void> {
    await within(requestTimeout, this.#client(target), `${target.host} refuses the login.`);
  }

  /**
   * Runs a command on the machine. If the command transfers no data for too long, closes the session
   * and throws. The command may then still run on the machine.
   */
  async execute(
    target: SshRoute,
    command: string,
    streams: RemoteCommandStreams,
  ): Promise<RemoteCommandResult> {
    const client = await this.#client(target);
    const minutes = Math.round(this.commandSilence / 60_000);
    const sentence = `A program on ${target.host} sent and received nothing for ${minutes} minutes.`;
    const silent = createTimeLimit(this.commandSilence, new Failure("COMMAND_FAILED", sentence));
    silent.reached.catch(() => {
      client.destroy();
    });
    const running = runRemoteCommand(client, command, { ...streams, onData: silent.restart });
    return Promise.race([running, silent.reached]).finally(silent.stop);
  }

  /** Closes all sessions. Later requests fail. */
  close(): void {
    this.#closed = true;
    for (const client of this.#clients.values()) client.then((one) => one.destroy(), ignored);
  }

  #client(target: SshRoute): Promise<Client> {
    // The host key identifies the machine.
    const { hostKey } = target;
    if (this.#closed) return Promise.reject(new Failure("FAILED", "Stopped on request."));
    const known = this.#clients.get(hostKey);
    if (known) return known;
    const client = this.#connect(target);
    this.#clients.set(hostKey, client);
    const forget = (): void => void this.#clients.delete(hostKey);
    client.then((one) => one.once("close", forget), forget);
    return client;
  }

  async #connect({ proxy, ...target }: SshRoute): Promise<Client> {
    if (!proxy) return connect(target, undefined, this.patience);
    const jumpHost = await this.#client(proxy);
    return connect(target, await open(jumpHost, target.host, target.port ?? 22), this.patience);
  }
}

/** Ignores an error that another listener reports. */
const ignored = (): void => undefined;

interface TimeLimit {
  /** Promise that is rejected with the error at the end of the time. */
  readonly reached: Promise<never>;
  readonly restart: () => void;
  readonly stop: () => void;
}

function createTimeLimit(milliseconds: number, error: Failure): TimeLimit {
  let timer: NodeJS.Timeout | undefined;
  const reached = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(error);
    }, milliseconds);
  });
  return {
    reached,
    restart: () => void timer?.refresh(),
    stop: () => {
      clearTimeout(timer);
    },
  };
}

function within<T>(timeout: number, work: Promise<T>, sentence: string): Promise<T> {
  const limit = createTimeLimit(timeout, new Failure("FAILED", sentence));
  return Promise.race([work, limit.reached]).finally(limit.stop);
}
