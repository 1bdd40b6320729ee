import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from "node:crypto";

/**
 * Algorithm of all keys. This file encodes OpenSSH's data types (RFC 4251) for keys and
 * certificates.
 */

export const keyAlgorithm = "ssh-ed25519";

/** DER before the 32 bytes of an ed25519 private key (RFC 8410, PKCS #8). */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Derives bytes from a seed for a purpose (HKDF, RFC 5869). The result does not reveal the bytes
 * for another purpose.
 */
export const deriveBytes = (seed: string, purpose: string, length: number): Buffer =>
  Buffer.from(hkdfSync("sha256", Buffer.from(seed, "base64"), "stackadm", purpose, length));

/** Encodes a field: its length as uint32, and its bytes. */
export function encodeField(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([encodeUint32(bytes.length), bytes]);
}

export function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function encodeUint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

const keyCache = new Map<string, KeyObject>();

/**
 * Returns the ed25519 key with these 32 secret bytes. Caches keys, because OpenSSL reads keys
 * slowly and every machine needs the signer's key.
 */
export function getEd25519PrivateKey(secret: Buffer): KeyObject {
  const name = secret.toString("base64");
  let key = keyCache.get(name);
  if (!key) {
    const der = Buffer.concat([pkcs8, secret]);
    keyCache.set(name, (key = createPrivateKey({ key: der, format: "der", type: "pkcs8" })));
  }
  return key;
}

/** Returns the 32 bytes of the public key for the 32 secret bytes of a key. */
export const getPublicKeyBytes = (secret: Buffer): Buffer =>
  Buffer.from(
    createPublicKey(getEd25519PrivateKey(secret)).export({ format: "jwk" }).x ?? "",
    "base64url",
  );

/**
 * Encodes the 32 bytes of a public key, for public key files (before base64) and for certificates.
 * The caller passes the public bytes, because OpenSSL computes them slowly.
 */
export const encodePublicKey = (own: Buffer): Buffer =>
  Buffer.concat([encodeField(keyAlgorithm), encodeField(own)]);
