import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  failureOf,
  FailedMachines,
  serverIn,
  isFirst,
} from "../../../../components/support/failed-machines.js";

describe("failed machines", () => {
  const verdicts = [
    ["silent", "after 30 failed attempts: dial tcp 172.29.1.60:22: connect: no route to host"],
    ["silent", "after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout"],
    ["silent", "proxy: after 30 failed attempts: ssh: rejected: connect failed (No route to host)"],
    ["other", "proxy: after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout"],
    ["imposter", "after 30 failed attempts: ssh: handshake failed: ssh: host key mismatch"],
    ["imposter", "proxy: after 30 failed attempts: ssh: handshake failed: ssh: host key mismatch"],
    ["unclear", "proxy: after 30 failed attempts: ssh: handshake failed: EOF"],
    ["other", 'Process exited with status 1: running "sudo -n bash -s":\nthe key is wrong'],
    [
      "other",
      "after 30 failed attempts: ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]",
    ],
  ] as const;
  for (const [verdict, message] of verdicts) {
    it(`takes "${message.slice(0, 70)}" for ${verdict}`, () => {
      assert.equal(failureOf(message), verdict);
    });
  }

  it("are only marked when not even their first script ever reached them", () => {
    assert.equal(isFirst("prepare", "create"), true);
    // It worked once: it may be out of reach for a while, and must not be replaced for that.
    assert.equal(isFirst("prepare", "update"), false);
    assert.equal(isFirst("join", "create"), false);
  });

  it("are found in what the provider says about a server in ERROR", () => {
    const id = "5ee5a1c4-0b1c-4d2e-8f30-0123456789ab";
    const said = `Error waiting for instance (${id}) to become ready: unexpected state 'ERROR'`;
    assert.equal(serverIn(said), id);
    assert.equal(serverIn("No suitable endpoint could be found"), undefined);
  });

  describe("on disk", () => {
    let directory = "";
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), "stackadm-failed-"));
    });
    afterEach(() => {
      rmSync(directory, { recursive: true });
    });

    it("are known by the server that did not answer", () => {
      writeFileSync(join(directory, "dev-general-0.failed"), "5ee5a1c4\n");
      const failed = new FailedMachines(directory);
      assert.equal(failed.serverOf("dev-general-0"), "5ee5a1c4");
      assert.equal(failed.serverOf("dev-general-1"), undefined);
    });

    it("are none when nothing ever failed", () => {
      assert.equal(new FailedMachines(join(directory, "none")).serverOf("a"), undefined);
    });
  });
});
