import { sign } from "node:crypto";
import { deriveSshKey, type SshKey } from "./derived-ssh-keys.js";
import {
  keyAlgorithm,
  deriveBytes,
  encodeField,
  getEd25519PrivateKey,
  encodePublicKey,
  getPublicKeyBytes,
  encodeUint32,
  encodeUint64,
} from "./openssh-encoding.js";

/** User on control planes and etcd machines. This user can log in only with a certificate. */
export const joinUser = "stackadm-join";

const signerPurpose = "join-signer";
const certificateType = "ssh-ed25519-cert-v01@openssh.com";
/** Number of the certificate type `user`. The type `host` has another number. */
const userCertificate = 1;
const forever = 2n ** 64n - 1n;

/** Joining machine for which the certificate is issued. */
export interface JoinCertificateSubject {
  /** Kind of credentials that the machine may request: `grant` of its role (config/roles.ts). */
  readonly grant: string;
  /** Name of the machine and its node. */
  readonly machine: string;
  readonly serverId: string;
  /** Address of the machine. sshd refuses the certificate from other addresses. */
  readonly address: string;
}

/** SSH key with its certificate. The certificate is one line in the format of OpenSSH's files. */
export interface JoinKey extends SshKey {
  readonly certificate: string;
}

/**
 * Returns the public key with which control planes verify certificates. Only the program has the
 * private key.
 */
export const deriveSignerPublicKey = (seed: string): string =>
  deriveSshKey(seed, signerPurpose).publicKey;

/**
 * Returns the command that sshd runs at every login with the certificate. The last argument
 * contains the command that the client requested.
 */
export const renderForcedCommand = ({
  grant,
  machine,
  serverId,
  address,
}: JoinCertificateSubject): string =>
  `sudo -n /usr/local/sbin/stackadm-mint ${grant} ${machine} ${serverId} ${address} "$SSH_ORIGINAL_COMMAND"`;

/** Encodes a critical option: its name, and its data as a field within a field. */
const option = (name: string, data: string): Buffer =>
  Buffer.concat([encodeField(name), encodeField(encodeField(data))]);

/**
 * Returns the key with which a machine requests to join, and the key's certificate. The certificate
 * is valid only for this grant, name, server and address (OpenSSH's PROTOCOL.certkeys). Control
 * planes have only the public key of the signer, so a new machine changes nothing on control
 * planes. The certificate does not expire, because it is useless from another address or for
 * another name.
 */
export function deriveJoinKey(seed: string, joiner: JoinCertificateSubject): JoinKey {
  for (const [what, value] of Object.entries<string>({ ...joiner }))
    if (!/^[a-zA-Z0-9:.-]+$/.test(value)) throw new RangeError(`${what} "${value}" is not a word`);
  const purpose = `join/${joiner.grant}/${joiner.machine}`;
  const signer = deriveBytes(seed, signerPurpose, 32);
  const command = renderForcedCommand(joiner);
  const signed = Buffer.concat([
    encodeField(certificateType),
    // The nonce must be different for certificates with different content.
    encodeField(deriveBytes(seed, `nonce:${command}`, 32)),
    encodeField(getPublicKeyBytes(deriveBytes(seed, purpose, 32))),
    ...[
      encodeUint64(0n),
      encodeUint32(userCertificate),
      encodeField(joiner.machine),
      encodeField(encodeField(joinUser)),
    ],
    ...[encodeUint64(0n), encodeUint64(forever)],
    // The format requires that options are sorted by name.
    encodeField(
      Buffer.concat([option("force-command", command), option("source-address", joiner.address)]),
    ),
    // The certificate has no extensions, so it allows no terminal and no forwarding.
    ...[encodeField(""), encodeField("")],
    encodeField(encodePublicKey(getPublicKeyBytes(signer))),
  ]);
  const signature = Buffer.concat([
    encodeField(keyAlgorithm),
    encodeField(sign(null, signed, getEd25519PrivateKey(signer))),
  ]);
  const whole = Buffer.concat([signed, encodeField(signature)]).toString("base64");
  return { ...deriveSshKey(seed, purpose), certificate: `${certificateType} ${whole} ${purpose}` };
}
