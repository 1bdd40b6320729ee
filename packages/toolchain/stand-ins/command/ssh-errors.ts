/** Renders connection errors in the words of the official plugin (Go's net and x/crypto/ssh). */

const connectReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ECONNRESET: "connect: connection reset by peer",
  ETIMEDOUT: "connect: connection timed out",
  ENOENT: "connect: no such file or directory",
  EACCES: "connect: permission denied",
};

export function getErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/**
 * Returns the error of a failed attempt to connect.
 *
 * @param network `tcp` or `unix`
 * @param address address of the server, as in the error
 */
export function createDialError(network: string, address: string, error: unknown): Error {
  const code = getErrorCode(error);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    const host = address.replace(/:\d+$/, "");
    return new Error(`dial ${network}: lookup ${host}: no such host`);
  }
  const reason = connectReasons[code] ?? (error instanceof Error ? error.message : String(error));
  return new Error(`dial ${network} ${address}: ${reason}`);
}

export function createDialTimeoutError(network: string, address: string): Error {
  return new Error(`dial ${network} ${address}: i/o timeout`);
}

/** Texts of the reason codes with which an SSH server rejects a channel. */
const rejections: Readonly<Record<number, string>> = {
  1: "administratively prohibited",
  2: "connect failed",
  3: "unknown channel type",
  4: "resource shortage",
};

/**
 * Returns the error for a channel that a proxy did not open. It contains the proxy's reason, or EOF
 * if the connection was lost.
 */
export function createChannelError(error: unknown): Error {
  if (!(error instanceof Error && "reason" in error)) return new Error("EOF");
  const reason = rejections[Number(error.reason)];
  return new Error(reason === undefined ? "EOF" : `ssh: rejected: ${reason} (${error.message})`);
}

/** Returns the official plugin's error for a failed SSH handshake. */
export function createHandshakeError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`ssh: handshake failed: ${handshakeReason(message, getErrorCode(error))}`);
}

function handshakeReason(message: string, code: string): string {
  if (code === "ECONNRESET") return "read: connection reset by peer";
  if (/host key format/.test(message)) return "ssh: no common algorithm for host key";
  if (/Connection lost before handshake|ended without|closed/i.test(message)) return "EOF";
  if (/Timed out while waiting for handshake/.test(message)) return "i/o timeout";
  return message;
}

export function createAuthenticationError(attempted: readonly string[]): Error {
  return new Error(
    `ssh: handshake failed: ssh: unable to authenticate, attempted methods [${attempted.join(" ")}], no supported methods remain`,
  );
}
