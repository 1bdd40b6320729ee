import { sign } from "node:crypto";
import { deriveBytes, getEd25519PrivateKey, getPublicKeyBytes } from "./openssh-encoding.js";

/** Private key of a server and its self-signed certificate, both in PEM. */
export interface ServerCertificate {
  readonly privateKey: string;
  readonly certificate: string;
}

/** Encodes a value in DER (X.690): tag, length, contents. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  const bytes = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : bytes)]), body]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);

/** Algorithm identifier of Ed25519 for keys and signatures (RFC 8410). */
const ed25519 = sequence(identifier("2b6570"));

const nameOf = (common: string): Buffer =>
  sequence(der(0x31, sequence(identifier("550403"), der(0x0c, Buffer.from(common)))));

const extension = (hex: string, value: Buffer): Buffer =>
  sequence(identifier(hex), der(0x04, value));

/**
 * Returns the extensions of the certificate: its IP address, and server authentication as its only
 * purpose.
 */
const extensions = (address: string): Buffer =>
  sequence(
    extension("551d11", sequence(der(0x87, Buffer.from(address.split(".").map(Number))))),
    extension("551d25", sequence(identifier("2b06010505070301"))),
  );

const pem = (label: string, content: Buffer): string => {
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
};

/**
 * Returns the key and certificate of a server with an IPv4 address. Only clients that pin this
 * certificate trust it. The same arguments always give the same result. The certificate does not
 * expire (RFC 5280, 4.1.2.5), because its private key is as secret as the seed.
 */
export function deriveServerCertificate(
  seed: string,
  { purpose, address }: { readonly purpose: string; readonly address: string },
): ServerCertificate {
  const secret = deriveBytes(seed, purpose, 32);
  const name = nameOf(purpose);
  // X.509 requires a positive serial number, so the first byte is 1.
  const serial = Buffer.concat([Buffer.from([1]), deriveBytes(seed, `serial:${purpose}`, 15)]);
  const validity = [
    der(0x17, Buffer.from("200101000000Z")),
    der(0x18, Buffer.from("99991231235959Z")),
  ];
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    ...[der(0x02, serial), ed25519, name, sequence(...validity), name],
    sequence(ed25519, bits(getPublicKeyBytes(secret))),
    der(0xa3, extensions(address)),
  );
  const key = getEd25519PrivateKey(secret);
  return {
    privateKey: key.export({ format: "pem", type: "pkcs8" }).toString(),
    certificate: pem("CERTIFICATE", sequence(signed, ed25519, bits(sign(null, signed, key)))),
  };
}
