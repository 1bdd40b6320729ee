import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from "node:crypto";

/** The parts of OpenSSH's formats (RFC 4251) that keys and certificates are made of. */

export const algorithm = "ssh-ed25519";

/** DER around the 32 bytes of an ed25519 private key (RFC 8410, PKCS #8). */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Bytes that are the same for the same seed and purpose, and tell nothing about any other (HKDF, RFC 5869). */
export const derive = (seed: string, purpose: string, length: number): Buffer =>
  Buffer.from(hkdfSync("sha256", Buffer.from(seed, "base64"), "stackadm", purpose, length));

/** Length, then bytes. */
export function field(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

const known = new Map<string, KeyObject>();

/** An ed25519 key for Node, of its 32 secret bytes. OpenSSL reads each once: that takes long, and the signer's is asked for by every machine. */
export function privateKeyOf(secret: Buffer): KeyObject {
  const name = secret.toString("base64");
  let key = known.get(name);
  if (!key) {
    const der = Buffer.concat([pkcs8, secret]);
    known.set(name, (key = createPrivateKey({ key: der, format: "der", type: "pkcs8" })));
  }
  return key;
}

/** The 32 public bytes. */
export const publicBytes = (secret: Buffer): Buffer =>
  Buffer.from(createPublicKey(privateKeyOf(secret)).export({ format: "jwk" }).x ?? "", "base64url");

/** The public key as it stands in files and signatures, before base64; of its 32 bytes, which cost a look into OpenSSL each time. */
export const publicBlob = (own: Buffer): Buffer => Buffer.concat([field(algorithm), field(own)]);
