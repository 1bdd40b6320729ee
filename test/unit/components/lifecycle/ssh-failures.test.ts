import { strict as assert } from "node:assert";
import fc from "fast-check";
import { parseSshFailure } from "../../../../components/lifecycle/ssh-failures.js";

describe("parseSshFailure", () => {
  const verdicts = [
    ["silent", "after 30 failed attempts: dial tcp 172.29.1.60:22: connect: no route to host"],
    ["silent", "after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout"],
    ["silent", "proxy: after 30 failed attempts: ssh: rejected: connect failed (No route to host)"],
    ["silent proxy", "proxy: after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout"],
    ["wrong host key", "after 30 failed attempts: ssh: handshake failed: ssh: host key mismatch"],
    [
      "wrong host key",
      "proxy: after 30 failed attempts: ssh: handshake failed: ssh: host key mismatch",
    ],
    ["unclear", "proxy: after 30 failed attempts: ssh: handshake failed: EOF"],
    ["other", "proxy: after 30 failed attempts: ssh: handshake failed: agent: failed to sign"],
    ["other", "proxy: after 30 failed attempts: dial unix /tmp/agent.1: connect: no such file"],
    // The proxy closed the connection after it was reached.
    ["unclear", "proxy: after 30 failed attempts: EOF"],
    ["unclear", "proxy: after 30 failed attempts: write: broken pipe"],
    [
      "other",
      "proxy: after 30 failed attempts: ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]",
    ],
    [
      "other",
      "proxy: after 30 failed attempts: ssh: rejected: administratively prohibited (open failed)",
    ],
    [
      "cut off",
      'wait: remote command exited without exit status or exit signal: running "sudo -n bash -s":\nStill running.',
    ],
    ["cut off", "EOF"],
    ["cut off", 'EOF: running "sudo -n bash -s":'],
    ["cut off", "failed to create remote file .stackadm/a/b.sh: connection lost"],
    ["cut off", "connection lost"],
    ["cut off", "server unexpectedly closed connection: unexpected EOF"],
    [
      "cut off",
      "error receiving version packet from server: server unexpectedly closed connection: unexpected EOF",
    ],
    ["cut off", "error sending init packet to server: EOF"],
    ...["stat", "create", "copy"].map(
      (verb) =>
        ["cut off", `failed to ${verb} .stackadm/a/b.sh: failed to send packet: EOF`] as const,
    ),
    ["other", "failed to create remote file .stackadm/a/b.sh: permission denied"],
    ["other", "ssh: subsystem request failed"],
    ["cut off", "ssh: unexpected packet in response to channel open: <nil>"],
    ["cut off", 'Process exited with status 143 from signal TERM: running "sudo -n bash -s":'],
    [
      "silent",
      "after 30 failed attempts: read tcp 10.0.0.2:5->10.0.0.9:22: read: connection timed out",
    ],
    ["other", 'Process exited with status 1: running "sudo -n bash -s":\nthe key is wrong'],
    [
      "other",
      "Process exited with status 1: running \"sudo -n bash \\\n  A='host key mismatch'\":\nreason: x",
    ],
    [
      "other",
      "after 30 failed attempts: ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]",
    ],
  ] as const;
  for (const [verdict, message] of verdicts) {
    it(`returns '${verdict}' for "${message.slice(0, 70)}"`, () => {
      assert.equal(parseSshFailure(message), verdict);
    });
  }

  it("ignores output of a script that ran", () => {
    const said = fc.oneof(fc.string(), fc.constantFrom(...verdicts.map(([, message]) => message)));
    fc.assert(
      fc.property(said, (output) => {
        const status = 'Process exited with status 1: running "sudo -n bash -s":';
        assert.equal(parseSshFailure(`${status}\n${output}\nreason: x`), "other");
      }),
    );
  });
});
