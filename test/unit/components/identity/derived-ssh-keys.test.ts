import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import ssh2 from "ssh2";
import {
  deriveSshKey,
  getHostKeyPurpose,
} from "../../../../components/identity/derived-ssh-keys.js";

const seed = Buffer.alloc(32, 7).toString("base64");
const seeds = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));
const names = fc.stringMatching(/^[a-z0-9-]{1,63}$/);

const parsed = (text: string): ssh2.ParsedKey => {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) throw key;
  return Array.isArray(key) ? (key[0] as ssh2.ParsedKey) : key;
};

describe("host keys", () => {
  it("are readable by an SSH library, with the public half that the program reports", () => {
    fc.assert(
      fc.property(seeds, names, (any, machine) => {
        const key = deriveSshKey(any, getHostKeyPurpose(machine, 0));
        const own = parsed(key.privateKey);
        assert.equal(own.type, "ssh-ed25519");
        assert.ok(own.isPrivateKey());
        assert.equal(`ssh-ed25519 ${own.getPublicSSH().toString("base64")}`, key.publicKey);
      }),
      { numRuns: 50 },
    );
  });

  it("sign data that the public half verifies", () => {
    const key = deriveSshKey(seed, "any");
    const text = Buffer.from("who are you?");
    const signature = parsed(key.privateKey).sign(text);
    const pem = parsed(key.publicKey).getPublicPEM();
    assert.ok(Buffer.isBuffer(signature));
    assert.ok(verify(null, text, createPublicKey(pem), signature));
  });

  it("are readable by ssh-keygen for any length of the comment", () => {
    const directory = mkdtempSync(join(tmpdir(), "stackadm-key-"));
    try {
      for (let length = 1; length <= 9; length++) {
        const key = deriveSshKey(seed, "x".repeat(length));
        const file = join(directory, String(length));
        writeFileSync(file, key.privateKey, { mode: 0o600 });
        const said = execFileSync("ssh-keygen", ["-y", "-f", file], { encoding: "utf8" });
        assert.equal(said.trim().split(" ").slice(0, 2).join(" "), key.publicKey);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("are the same for the same seed and purpose", () => {
    fc.assert(
      fc.property(seeds, names, (any, purpose) => {
        assert.deepEqual(deriveSshKey(any, purpose), deriveSshKey(any, purpose));
      }),
      { numRuns: 20 },
    );
  });

  it("never change between releases, because machines keep them", () => {
    assert.equal(
      deriveSshKey(seed, getHostKeyPurpose("dev-control-plane-0", 0)).publicKey,
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILtAmK/SJo7PmfOIOUV1iPit7AVqCJFBhJ9duZ+X1Mjr",
    );
  });

  it("differ between machines, generations, purposes and seeds", () => {
    const other = Buffer.alloc(32, 8).toString("base64");
    const keys = [
      deriveSshKey(seed, getHostKeyPurpose("a", 0)),
      deriveSshKey(seed, getHostKeyPurpose("a", 1)),
      deriveSshKey(seed, getHostKeyPurpose("b", 0)),
      deriveSshKey(other, getHostKeyPurpose("a", 0)),
    ].map(({ publicKey }) => publicKey);
    assert.equal(new Set(keys).size, keys.length);
  });

  it("refuse a seed that is too short", () => {
    assert.throws(
      () => deriveSshKey(Buffer.alloc(31).toString("base64"), "a"),
      /seed is too short/,
    );
    assert.throws(() => deriveSshKey("", "a"), /seed is too short/);
  });
});
