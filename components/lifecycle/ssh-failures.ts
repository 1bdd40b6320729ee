import { reasonLine } from "../../base/failures/failure.js";

/**
 * Causes of a failed script, as an error of the command plugin shows them.
 * - `silent`: the machine does not answer. Behind a proxy, this is a rejected channel.
 * - `silent proxy`: the proxy does not answer; it may still be booting.
 * - `cut off`: the connection ended while or before the script ran: the machine stopped or
 * restarted, or the
 *   network failed.
 * - `unclear`: a connection through a proxy was dead before the script began. The plugin retries on
 *   the same connection, so its last error no longer shows the cause: a failed handshake, or a
 *   proxy that closed the connection.
 * - `other`: the script failed, or the proxy refused the login, which proves nothing about the
 *   machine.
 */
export type SshFailure =
  "silent" | "silent proxy" | "wrong host key" | "cut off" | "unclear" | "other";

/**
 * What the plugin reports when a connection ends: while a script runs, before it begins, where
 * systemd stops sudo before sshd, and while files are copied. Source: pulumi-command 1.2.1,
 * provider/pkg/provider/remote/commandOutputs.go and copyController.go, golang.org/x/crypto/ssh,
 * and github.com/pkg/sftp 1.13.6.
 */
const endings = [
  /^wait: remote command exited without exit status/,
  /^EOF$/,
  /^ssh: unexpected packet in response to channel open/,
  /^Process exited with status 143 from signal TERM/,
  /(?:^|: )connection lost\b/,
  /(?:^|: )server unexpectedly closed connection\b/,
  /(?:^|: )error sending init packet to server: /,
  /(?:^|: )failed to send packet\b/,
];

/**
 * Returns what the first line of an error says. The output of the script follows it, and proves
 * nothing.
 */
export function sshFailureOf(message: string): SshFailure {
  const line = reasonLine(message);
  if (/host key mismatch/i.test(line)) return "wrong host key";
  if (endings.some((ending) => ending.test(line))) return "cut off";
  if (!/after \d+ failed attempts/.test(line)) return "other";
  if (!/proxy:/.test(line))
    return /dial tcp|connection reset|connection timed out|EOF/.test(line) ? "silent" : "other";
  if (/rejected: connect failed/.test(line)) return "silent";
  if (/dial tcp/.test(line)) return "silent proxy";
  return /unable to authenticate|rejected:/.test(line) ? "other" : "unclear";
}
