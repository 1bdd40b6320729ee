import { request } from "node:http";
import type { Duplex } from "node:stream";
import { Client } from "ssh2";
import { UserError } from "../user-error.js";

/** A machine to log in to; it may answer with one host key only. */
export interface SshTarget {
  readonly host: string;
  /** Default: 22. */
  readonly port?: number;
  readonly user: string;
  /** `ssh-ed25519 AAAA...` */
  readonly hostKey: string;
  readonly agentSocket: string;
}

const connectTimeout = 10_000;

async function connect(target: SshTarget): Promise<Client> {
  const [algorithm = "", encoded = ""] = target.hostKey.split(" ");
  const expected = Buffer.from(encoded, "base64");
  const client = new Client();
  let refused = false;
  return new Promise((resolve, reject) => {
    client
      .once("ready", () => {
        resolve(client);
      })
      .once("error", (error) => {
        reject(
          refused
            ? new UserError(
                `${target.host} answers with another host key than the one it was given.`,
                "Someone may be in between, or the machine was reinstalled by hand.",
              )
            : new UserError(`${target.host} cannot be reached by SSH: ${error.message}.`),
        );
      })
      .connect({
        host: target.host,
        port: target.port ?? 22,
        username: target.user,
        agent: target.agentSocket,
        readyTimeout: connectTimeout,
        // ssh2 types the list as known names; an unknown one is refused by it at run time.
        algorithms: { serverHostKey: [algorithm as "ssh-ed25519"] },
        hostVerifier: (key: Buffer) => {
          refused = !key.equals(expected);
          return !refused;
        },
      });
  });
}

const forward = (client: Client, address: string, port: number): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    client.forwardOut("127.0.0.1", 0, address, port, (error, channel) => {
      if (error) reject(new UserError(`${address}:${port} cannot be reached: ${error.message}.`));
      else resolve(channel);
    });
  });

export interface Fetched {
  readonly status: number;
  readonly body: string;
}

async function get(channel: Duplex, address: string, port: number): Promise<Fetched> {
  return new Promise<Fetched>((resolve, reject) => {
    const call = request(
      { host: address, port, path: "/", createConnection: () => channel },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => (body += part));
        answer.once("error", reject);
        answer.once("end", () => {
          resolve({ status: answer.statusCode ?? 0, body });
        });
      },
    );
    call.once("error", reject);
    call.end();
  });
}

/** How long one fetch may take, the log-in included, in milliseconds. */
const fetchTimeout = 15_000;

/** GETs `http://<address>:<port>/` from the machine: the connection begins there, the answer is read here. */
export async function fetchThrough(
  target: SshTarget,
  address: string,
  port = 80,
  timeout = fetchTimeout,
): Promise<Fetched> {
  const client = await connect(target);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new UserError(`${address}:${port} does not answer to ${target.host}.`));
    }, timeout);
  });
  try {
    const work = forward(client, address, port).then((channel) => get(channel, address, port));
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    client.destroy();
  }
}
