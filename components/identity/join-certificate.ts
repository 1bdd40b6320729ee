import { sign } from "node:crypto";
import { deriveKey, type SshKey } from "./host-keys.js";
import {
  keyAlgorithm,
  deriveBytes,
  encodeField,
  privateKeyOf,
  publicBlob,
  publicBytes,
  uint32,
  uint64,
} from "./openssh-encoding.js";

/** User on control planes and etcd's machines who can log in with a certificate only. */
export const joinUser = "stackadm-join";

const signerPurpose = "join-signer";
const certificateType = "ssh-ed25519-cert-v01@openssh.com";
/** Certificate type: user, not host. */
const userCertificate = 1;
const forever = 2n ** 64n - 1n;

/** Machine that asks a control plane, or a member of etcd, to join. */
export interface JoinCertificateSubject {
  /** Credentials that the machine may request: `grant` of the machine's role (plan/roles.ts). */
  readonly grant: string;
  /** Name of the machine and of its node. */
  readonly machine: string;
  readonly serverId: string;
  /** Address of the machine. Requests from other addresses are refused. */
  readonly address: string;
}

/** SSH key with its certificate, which is one line in the format of OpenSSH's files. */
export interface JoinKey extends SshKey {
  readonly certificate: string;
}

/**
 * Returns the public key with which control planes verify certificates. Only the program has the
 * private key.
 */
export const joinSignerPublicKey = (seed: string): string =>
  deriveKey(seed, signerPurpose).publicKey;

/**
 * Returns the command that sshd always runs for the holder of the certificate. The last argument is
 * the command that the holder requested.
 */
export const joinCommand = ({
  grant,
  machine,
  serverId,
  address,
}: JoinCertificateSubject): string =>
  `sudo -n /usr/local/sbin/stackadm-mint ${grant} ${machine} ${serverId} ${address} "$SSH_ORIGINAL_COMMAND"`;

/** Encodes a critical option: the name, and the data as a field within a field. */
const option = (name: string, data: string): Buffer =>
  Buffer.concat([encodeField(name), encodeField(encodeField(data))]);

/**
 * Returns the key with which one machine asks to join, and a certificate that binds the key to
 * grant, name, server and address (OpenSSH's PROTOCOL.certkeys). Control planes know only the
 * signer, so that a new machine changes nothing on control planes. The certificate does not expire,
 * because it is useless from another address or for another name.
 */
export function joinKey(seed: string, joiner: JoinCertificateSubject): JoinKey {
  for (const [what, value] of Object.entries<string>({ ...joiner }))
    if (!/^[a-zA-Z0-9:.-]+$/.test(value)) throw new RangeError(`${what} "${value}" is not a word`);
  const purpose = `join/${joiner.grant}/${joiner.machine}`;
  const signer = deriveBytes(seed, signerPurpose, 32);
  const command = joinCommand(joiner);
  const signed = Buffer.concat([
    encodeField(certificateType),
    // The nonce must only differ between certificates with different content.
    encodeField(deriveBytes(seed, `nonce:${command}`, 32)),
    encodeField(publicBytes(deriveBytes(seed, purpose, 32))),
    ...[
      uint64(0n),
      uint32(userCertificate),
      encodeField(joiner.machine),
      encodeField(encodeField(joinUser)),
    ],
    ...[uint64(0n), uint64(forever)],
    // The format requires options in the order of their names.
    encodeField(
      Buffer.concat([option("force-command", command), option("source-address", joiner.address)]),
    ),
    // No extension: no terminal, no forwarding.
    ...[encodeField(""), encodeField("")],
    encodeField(publicBlob(publicBytes(signer))),
  ]);
  const signature = Buffer.concat([
    encodeField(keyAlgorithm),
    encodeField(sign(null, signed, privateKeyOf(signer))),
  ]);
  const whole = Buffer.concat([signed, encodeField(signature)]).toString("base64");
  return { ...deriveKey(seed, purpose), certificate: `${certificateType} ${whole} ${purpose}` };
}
