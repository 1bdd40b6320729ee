import { findReasonLine } from "../../base/failures/failure.js";

/**
 * Cause of a failed script, according to the error of the command plugin.
 * - `silent`: the machine does not answer. Behind a proxy, the error is a rejected channel.
 * - `silent proxy`: the proxy does not answer. The proxy may still be booting.
 * - `wrong host key`: the machine or the proxy has another host key than expected.
 * - `cut off`: the connection ended before or while the script ran. The machine stopped or
 *   restarted, or the network failed.
 * - `unclear`: the connection through a proxy was broken before the script began. The plugin tries
 *   the same connection again, so its last error does not show the first cause. The cause is a
 *   failed handshake, or a proxy that closed the connection.
 * - `other`: the script failed or reached its time limit, the proxy refused the login, or the ssh-agent did not sign. Such a
 *   failure proves nothing about the machine.
 */
export type SshFailure =
  "silent" | "silent proxy" | "wrong host key" | "cut off" | "unclear" | "other";

/**
 * Errors of the plugin for a connection that ended. The connection may end while a script runs,
 * while files are copied, or before a script begins. The last reason is that systemd stops sudo
 * before sshd. Source: pulumi-command 1.2.1, provider/pkg/provider/remote/commandOutputs.go and
 * copyController.go, golang.org/x/crypto/ssh, and github.com/pkg/sftp 1.13.6.
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
 * Pattern of the reason of a script that reached its time limit. The machine then ends the
 * connection if it cannot end all processes of the script (`end_step` in common.sh).
 */
const endedByLimit = /^reason: .* did not end within \d+ s on .* and was ended /m;

/**
 * Returns the cause in the first line of an error. Ignores the following lines, which are output of
 * the script, unless the script reached its time limit.
 */
export function parseSshFailure(message: string): SshFailure {
  if (endedByLimit.test(message)) return "other";
  const line = findReasonLine(message);
  if (/host key mismatch/i.test(line)) return "wrong host key";
  if (endings.some((ending) => ending.test(line))) return "cut off";
  if (!/after \d+ failed attempts/.test(line)) return "other";
  // The operator's ssh-agent fails, so the error shows nothing about a machine.
  if (/\bagent: |dial unix /.test(line)) return "other";
  if (!/proxy:/.test(line))
    return /dial tcp|connection reset|connection timed out|EOF/.test(line) ? "silent" : "other";
  if (/rejected: connect failed/.test(line)) return "silent";
  if (/dial tcp/.test(line)) return "silent proxy";
  return /unable to authenticate|rejected:/.test(line) ? "other" : "unclear";
}
