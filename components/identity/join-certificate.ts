import { sign } from "node:crypto";
import { deriveKey, type SshKey } from "./host-keys.js";
import {
  algorithm,
  derive,
  field,
  privateKeyOf,
  publicBlob,
  publicBytes,
  uint32,
  uint64,
} from "./wire.js";

/** Login name on control planes that only certificates open. */
export const joinUser = "stackadm-join";

const signerPurpose = "join-signer";
const certificateType = "ssh-ed25519-cert-v01@openssh.com";
/** A user's certificate, not a host's. */
const userCertificate = 1;
const forever = 2n ** 64n - 1n;

/** Who asks a control plane to be let into the cluster. */
export interface Joiner {
  /** What it may have. */
  readonly grant: string;
  /** Name of the machine and of its node. */
  readonly machine: string;
  readonly serverId: string;
  /** The only address from which it may ask. */
  readonly address: string;
}

/** A key, and what is signed about its holder: one line for a file beside it. */
export interface JoinKey extends SshKey {
  readonly certificate: string;
}

/** The public key that control planes trust to sign joiners; its private half never leaves the program. */
export const joinSigner = (seed: string): string => deriveKey(seed, signerPurpose).publicKey;

/** What sshd runs whatever the holder asks for; the asked words are the last argument. */
export const joinCommand = ({ grant, machine, serverId, address }: Joiner): string =>
  `sudo -n /usr/local/sbin/stackadm-mint ${grant} ${machine} ${serverId} ${address} "$SSH_ORIGINAL_COMMAND"`;

/** A critical option: its name, and its data as a field within a field. */
const option = (name: string, data: string): Buffer =>
  Buffer.concat([field(name), field(field(data))]);

/**
 * The key with which one machine asks for its join, and a certificate that binds it to its grant, name, server and address
 * (OpenSSH's PROTOCOL.certkeys). A control plane knows the signer only, so that a new machine changes nothing on it. Without an
 * end: what it opens is worth nothing from elsewhere or for another name.
 */
export function joinKey(seed: string, joiner: Joiner): JoinKey {
  for (const [what, value] of Object.entries<string>({ ...joiner }))
    if (!/^[a-zA-Z0-9:.-]+$/.test(value)) throw new RangeError(`${what} "${value}" is not a word`);
  const purpose = `join/${joiner.grant}/${joiner.machine}`;
  const signer = derive(seed, signerPurpose, 32);
  const command = joinCommand(joiner);
  const signed = Buffer.concat([
    field(certificateType),
    // The nonce only has to differ between certificates of other content.
    field(derive(seed, `nonce:${command}`, 32)),
    field(publicBytes(derive(seed, purpose, 32))),
    ...[uint64(0n), uint32(userCertificate), field(joiner.machine), field(field(joinUser))],
    ...[uint64(0n), uint64(forever)],
    // In the order of their names, as the format demands.
    field(
      Buffer.concat([option("force-command", command), option("source-address", joiner.address)]),
    ),
    // No extension: no terminal, no forwarding.
    ...[field(""), field("")],
    field(publicBlob(publicBytes(signer))),
  ]);
  const signature = Buffer.concat([
    field(algorithm),
    field(sign(null, signed, privateKeyOf(signer))),
  ]);
  const whole = Buffer.concat([signed, field(signature)]).toString("base64");
  return { ...deriveKey(seed, purpose), certificate: `${certificateType} ${whole} ${purpose}` };
}
