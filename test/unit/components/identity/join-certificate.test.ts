import { strict as assert } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  deriveJoinKey,
  deriveSignerPublicKey,
  type JoinCertificateSubject,
} from "../../../../components/identity/join-certificate.js";

const seed = Buffer.alloc(32, 7).toString("base64");
const joiner: JoinCertificateSubject = {
  grant: "token",
  machine: "dev-general-0",
  serverId: "0b1c2d3e-0000-4000-8000-000000000001",
  address: "10.0.0.9",
};
const blobOf = (line: string): Buffer => Buffer.from(line.split(" ")[1] ?? "", "base64");

describe("join certificate", () => {
  let directory: string;
  const inspect = (certificate: string): string => {
    const file = join(directory, "key-cert.pub");
    writeFileSync(file, `${certificate}\n`);
    return execFileSync("ssh-keygen", ["-L", "-f", file], { encoding: "utf8" });
  };
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "join-certificate-"));
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it("is valid for OpenSSH: one user, no expiry, one source address and one forced command", () => {
    const text = inspect(deriveJoinKey(seed, joiner).certificate);
    for (const line of [
      "ssh-ed25519-cert-v01@openssh.com user certificate",
      'Key ID: "dev-general-0"',
      "Valid: forever",
      "stackadm-join",
      `force-command sudo -n /usr/local/sbin/stackadm-mint token dev-general-0 ${joiner.serverId} 10.0.0.9 "$SSH_ORIGINAL_COMMAND"`,
      "source-address 10.0.0.9",
      "Extensions: (none)",
    ])
      assert.ok(text.includes(line), `${line}\n${text}`);
  });

  it("is rejected by OpenSSH if one byte changes", () => {
    const { certificate } = deriveJoinKey(seed, joiner);
    const [type = "", blob = ""] = certificate.split(" ");
    const bytes = Buffer.from(blob, "base64");
    const place = bytes.indexOf("dev-general-0");
    assert.ok(place > 0);
    bytes[place] = "x".charCodeAt(0);
    const file = join(directory, "forged-cert.pub");
    writeFileSync(file, `${type} ${bytes.toString("base64")}\n`);
    assert.notEqual(spawnSync("ssh-keygen", ["-L", "-f", file]).status, 0);
  });

  it("is signed by the key that control planes trust, which the machine does not receive", () => {
    const { certificate, privateKey } = deriveJoinKey(seed, joiner);
    const signer = blobOf(deriveSignerPublicKey(seed));
    assert.ok(blobOf(certificate).includes(signer));
    const own = Buffer.from(privateKey.split("\n").slice(1, -2).join(""), "base64");
    assert.ok(!own.includes(signer));
  });

  it("contains the public half of the machine's own key", () => {
    const { certificate, publicKey } = deriveJoinKey(seed, joiner);
    assert.ok(blobOf(certificate).includes(blobOf(publicKey).subarray(-32)));
  });

  it("differs per machine, server, address, grant and cluster, and is otherwise the same", () => {
    const others: readonly Partial<JoinCertificateSubject>[] = [
      { machine: "dev-general-1" },
      { serverId: "0b1c2d3e-0000-4000-8000-000000000002" },
      { address: "10.0.0.10" },
      { grant: "certificates" },
    ];
    const all = [
      deriveJoinKey(seed, joiner),
      deriveJoinKey(Buffer.alloc(32, 8).toString("base64"), joiner),
      ...others.map((other) => deriveJoinKey(seed, { ...joiner, ...other })),
    ].map(({ certificate }) => certificate);
    assert.equal(new Set(all).size, all.length);
    assert.equal(deriveJoinKey(seed, joiner).certificate, all[0]);
  });

  it("refuses arguments that could start another command", () => {
    for (const machine of ["a b", "a;reboot", "$(reboot)", "a\nb", ""])
      assert.throws(
        () => deriveJoinKey(seed, { ...joiner, machine }),
        /machine ".*" is not a word/s,
      );
  });
});
