import { algorithm, derive, field, publicBlob, publicBytes } from "./wire.js";

/** An ed25519 key for SSH. */
export interface SshKey {
  /** PEM in OpenSSH's own format, which sshd and ssh read. */
  readonly privateKey: string;
  /** One line: `ssh-ed25519 AAAA...`. */
  readonly publicKey: string;
}

/** Cipher block of an unencrypted OpenSSH key. */
const block = 8;

/** PROTOCOL.key of OpenSSH: an unencrypted key, its check number twice, padded with 1, 2, 3, ... */
const openssh = (secret: Buffer, own: Buffer, check: Buffer, comment: string): string => {
  const inner = Buffer.concat([
    ...[check, check, field(algorithm), field(own)],
    ...[field(Buffer.concat([secret, own])), field(comment)],
  ]);
  const padding = Buffer.from(
    Array.from({ length: (block - (inner.length % block)) % block }, (_, index) => index + 1),
  );
  const one = Buffer.from([0, 0, 0, 1]);
  const whole = Buffer.concat([
    ...[Buffer.from("openssh-key-v1\0"), field("none"), field("none"), field("")],
    ...[one, field(publicBlob(own)), field(Buffer.concat([inner, padding]))],
  ]);
  const lines = whole.toString("base64").match(/.{1,70}/g) ?? [];
  return [
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    ...lines,
    "-----END OPENSSH PRIVATE KEY-----",
    "",
  ].join("\n");
};

/**
 * The key that `purpose` has in a cluster: the same for the same seed and purpose, and telling nothing about any other.
 * `seed` is base64 of at least 32 random bytes. HKDF with SHA-256 (RFC 5869) gives the 32 bytes that ed25519 needs.
 */
export function deriveKey(seed: string, purpose: string): SshKey {
  if (Buffer.from(seed, "base64").length < 32) throw new RangeError("the seed is too short");
  const secret = derive(seed, purpose, 32);
  const own = publicBytes(secret);
  const check = derive(seed, `check:${purpose}`, 4);
  return {
    privateKey: openssh(secret, own, check, purpose),
    publicKey: `${algorithm} ${publicBlob(own).toString("base64")}`,
  };
}

/**
 * Purpose of the key with which a machine proves who it is. A new generation is a new machine with a new key, unless its role
 * keeps it: then it has that of the first one for ever.
 */
export const hostKeyPurpose = (machine: string, generation: number): string =>
  `host/${machine}/${String(generation)}`;
