import {
  keyAlgorithm,
  deriveBytes,
  encodeField,
  encodePublicKey,
  getPublicKeyBytes,
} from "./openssh-encoding.js";

/** SSH key of type ed25519. */
export interface SshKey {
  /** Private key in OpenSSH's PEM format. */
  readonly privateKey: string;
  /** Public key in one line: `ssh-ed25519 AAAA...`. */
  readonly publicKey: string;
}

/** Block size of an unencrypted OpenSSH key, in bytes. */
const block = 8;

/**
 * Encodes an unencrypted private key in OpenSSH's format (PROTOCOL.key). The format contains the
 * check number twice, and 1, 2, 3, ... as padding.
 */
const openssh = (secret: Buffer, own: Buffer, check: Buffer, comment: string): string => {
  const inner = Buffer.concat([
    ...[check, check, encodeField(keyAlgorithm), encodeField(own)],
    ...[encodeField(Buffer.concat([secret, own])), encodeField(comment)],
  ]);
  const padding = Buffer.from(
    Array.from({ length: (block - (inner.length % block)) % block }, (_, index) => index + 1),
  );
  const keyCount = Buffer.from([0, 0, 0, 1]);
  const whole = Buffer.concat([
    ...[Buffer.from("openssh-key-v1\0"), encodeField("none"), encodeField("none"), encodeField("")],
    ...[keyCount, encodeField(encodePublicKey(own)), encodeField(Buffer.concat([inner, padding]))],
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
 * Returns the key of a cluster for `purpose`. The same seed and purpose always give the same key.
 * The key reveals no other key. HKDF with SHA-256 (RFC 5869) derives the 32 bytes that ed25519
 * needs.
 *
 * @param seed base64 of at least 32 random bytes
 */
export function deriveSshKey(seed: string, purpose: string): SshKey {
  if (Buffer.from(seed, "base64").length < 32) throw new RangeError("the seed is too short");
  const secret = deriveBytes(seed, purpose, 32);
  const own = getPublicKeyBytes(secret);
  const check = deriveBytes(seed, `check:${purpose}`, 4);
  return {
    privateKey: openssh(secret, own, check, purpose),
    publicKey: `${keyAlgorithm} ${encodePublicKey(own).toString("base64")}`,
  };
}

/**
 * Returns the purpose for a machine's host key. A machine with a new generation has a new key. For
 * roles that keep their host key, the caller always passes generation 0.
 */
export const getHostKeyPurpose = (machine: string, generation: number): string =>
  `host/${machine}/${String(generation)}`;
