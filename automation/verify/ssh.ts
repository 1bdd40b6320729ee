import { request } from "node:http";
import type { Duplex } from "node:stream";
import type { Client } from "ssh2";
import { forward, HostKeyMismatch, logIn, type SshTarget } from "../../cloud/ssh.js";
import { Failure } from "../../base/failure.js";
import { UserError } from "../../base/user-error.js";

async function connect(target: SshTarget): Promise<Client> {
  try {
    return await logIn(target);
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
    return await forward(client, address, port);
  } catch (error) {
    throw new UserError(`${address}:${port} cannot be reached: ${reasonOf(error)}.`);
  }
}

export interface Fetched {
  readonly status: number;
  readonly body: string;
}

async function get(channel: Duplex, host: string, port: number): Promise<Fetched> {
  return new Promise<Fetched>((resolve, reject) => {
    const call = request({ host, port, path: "/", createConnection: () => channel }, (answer) => {
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
}

/** How long one fetch may take, the log-in included, in milliseconds. */
const fetchTimeout = 15_000;

/** What is asked for besides the address. */
export interface FetchOptions {
  /** @default 80 */
  readonly port?: number;
  /** Milliseconds. @default 15 000 */
  readonly timeout?: number;
  /** Name that the request is for. @default the address */
  readonly host?: string | undefined;
}

/** GETs `http://<address>:<port>/` from the machine: the connection begins there, the answer is read here. */
export async function fetchThrough(
  target: SshTarget,
  address: string,
  { port = 80, timeout = fetchTimeout, host = address }: FetchOptions = {},
): Promise<Fetched> {
  const client = await connect(target);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new UserError(`${address}:${port} does not answer to ${target.host}.`));
    }, timeout);
  });
  try {
    const work = open(client, address, port).then((channel) => get(channel, host, port));
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    client.destroy();
  }
}
