/**
 * Authenticates the client with the methods in the order of the official plugin. Checks the host
 * key of the server if one is configured.
 */
import { connect as connectSocket } from "node:net";
import { utils } from "ssh2";
import type {
  AnyAuthMethod,
  AuthHandlerMiddleware,
  AuthenticationType,
  ConnectConfig,
  ParsedKey,
  ServerHostKeyAlgorithm,
} from "ssh2";
import type { SshEndpointInputs } from "./inputs.js";
import { createAuthenticationError, createDialError } from "./ssh-errors.js";

/** Credentials that are used in all attempts to connect to one endpoint. */
export interface SshCredentials {
  readonly endpoint: SshEndpointInputs;
  readonly methods: readonly AnyAuthMethod[];
  readonly hostKey: { readonly type: string; readonly blob: Buffer } | undefined;
}

/**
 * Reads the keys and checks that the SSH agent answers. Errors here are permanent, so the caller
 * does not retry.
 */
export async function readSshCredentials(
  endpoint: SshEndpointInputs,
  agentSocket: string | undefined,
): Promise<SshCredentials> {
  const socket = endpoint.agentSocketPath ?? agentSocket;
  if (socket) await answers(socket);
  return { endpoint, methods: methods(endpoint, socket), hostKey: pinnedKey(endpoint.hostKey) };
}

function methods(endpoint: SshEndpointInputs, socket: string | undefined): AnyAuthMethod[] {
  const username = endpoint.user;
  const list: AnyAuthMethod[] = [];
  const { privateKey, privateKeyPassword, password } = endpoint;
  if (privateKey !== undefined) {
    const key = parsedKey(privateKey, privateKeyPassword);
    list.push({ type: "publickey", username, key });
  }
  if (password !== undefined) {
    list.push(
      { type: "password", username, password },
      {
        type: "keyboard-interactive",
        username,
        prompt: (...[, , , prompts, finish]) => {
          finish(prompts.map(() => password));
        },
      },
    );
  }
  // Go's client tries each method once, so it does not use the agent if a private key is set.
  if (socket && privateKey === undefined) list.push({ type: "agent", username, agent: socket });
  return list;
}

function parsedKey(text: string, passphrase: string | undefined): ParsedKey {
  const key = utils.parseKey(text, passphrase);
  if (!(key instanceof Error)) return key;
  if (/no passphrase/i.test(key.message)) {
    throw new Error("ssh: this private key is passphrase protected");
  }
  if (passphrase !== undefined && /decrypt|passphrase|integrity/i.test(key.message)) {
    throw new Error("x509: decryption password incorrect");
  }
  throw new Error("ssh: no key found");
}

/**
 * Returns the host key that the server must have. Undefined means that any key is accepted, as in
 * the official plugin.
 */
function pinnedKey(line: string | undefined): SshCredentials["hostKey"] {
  if (line === undefined || line === "") return undefined;
  const key = utils.parseKey(line);
  if (key instanceof Error) throw new Error("failed to parse host key: ssh: no key found");
  return { type: key.type, blob: key.getPublicSSH() };
}

async function answers(socket: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const connection = connectSocket(socket);
    connection.once("connect", () => {
      connection.destroy();
      resolve();
    });
    connection.once("error", (error) => {
      reject(createDialError("unix", socket, error));
    });
  });
}

export interface RefuseHandshake {
  /** Reports why the handshake is aborted. This reason replaces the error of the ssh2 library. */
  (error: Error): void;
}

/**
 * Time limit of the handshake in milliseconds. The official plugin limits only the connection, but
 * a busy machine needs more time for the handshake.
 */
const handshakeTimeout = 20_000;

/** Returns the settings of the ssh2 library for one attempt to connect. */
export function createConnectConfig(who: SshCredentials, refuse: RefuseHandshake): ConnectConfig {
  const { endpoint, hostKey } = who;
  return {
    username: endpoint.user,
    readyTimeout: handshakeTimeout,
    authHandler: authHandler(who, refuse),
    hostVerifier: (key: Buffer) => {
      if (!hostKey || key.equals(hostKey.blob)) return true;
      refuse(new Error("ssh: handshake failed: ssh: host key mismatch"));
      return false;
    },
    // Offers only the type of the configured host key, so that a server with several keys uses this
    // key.
    ...(hostKey && { algorithms: { serverHostKey: [hostKey.type as ServerHostKeyAlgorithm] } }),
  };
}

function authHandler(who: SshCredentials, refuse: RefuseHandshake): AuthHandlerMiddleware {
  const waiting = [...who.methods];
  const attempted: string[] = [];
  // The ssh2 library passes null until the server has reported the methods that it accepts.
  return (allowed: AuthenticationType[] | null, _partial, next) => {
    if (attempted.length === 0) {
      attempted.push("none");
      next("none");
      return;
    }
    while (waiting.length > 0) {
      const method = waiting.shift();
      if (!method) break;
      const name = method.type === "agent" ? "publickey" : method.type;
      if (allowed && !allowed.includes(name)) continue;
      attempted.push(name);
      next(method);
      return;
    }
    refuse(createAuthenticationError(attempted));
  };
}
