import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureSigningKey, type SigningKey } from "../../../kubernetes/apt/signing-key.js";

/** Returns gpg's listing of a key as fields, one array per line. */
const listed = (armored: string): string[][] =>
  execFileSync("gpg", ["--batch", "--no-autostart", "--show-keys", "--with-colons"], {
    input: armored,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  })
    .split("\n")
    .map((line) => line.split(":"));

const of = (kind: string, armored: string): string[] =>
  listed(armored).find(([first]) => first === kind) ?? [];

describe("signing keys with the real gpg", function () {
  this.timeout(60_000);
  let folder: string;
  let plain: SigningKey;
  let withSubkey: SigningKey;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    plain = await ensureSigningKey(join(folder, "one"));
    withSubkey = await ensureSigningKey(join(folder, "other"), { subkey: true });
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it("sign directly or by a subkey", () => {
    assert.match(of("pub", plain.publicKey)[11] ?? "", /s/);
    assert.deepEqual(of("sub", plain.publicKey), []);
    assert.doesNotMatch(of("pub", withSubkey.publicKey)[11] ?? "", /s/);
    assert.match(of("sub", withSubkey.publicKey)[11] ?? "", /s/);
    assert.equal(of("fpr", withSubkey.publicKey)[9], withSubkey.fingerprint);
  });

  it("have the same fingerprint in an expired copy, which contains the end date", async () => {
    const expired = await plain.expired();
    assert.equal(of("fpr", expired)[9], plain.fingerprint);
    assert.equal(of("pub", plain.publicKey)[6], "");
    const end = Number(of("pub", expired)[6]);
    assert.ok(end > 0 && end <= Date.now() / 1000 + 2, String(end));
    assert.equal(of("pub", (await ensureSigningKey(join(folder, "one"))).publicKey)[6], "");
  });
});
