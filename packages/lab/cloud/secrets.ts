import { randomBytes } from "node:crypto";
import type { LabPaths, LabSettings } from "../settings.js";
import { createFrontCertificate } from "../front/authority.js";
import { createServerTls, type CertificateWithKey, type ServerTls } from "../certificates.js";

/** Passwords of the cloud's users, and passwords between the services. */
export interface LabPasswords {
  readonly database: string;
  readonly bus: string;
  /** Password of the user `svc`, with which the services call each other. */
  readonly service: string;
  /** Secret that Nova shares with Neutron's metadata agent. */
  readonly metadata: string;
  readonly admin: string;
  readonly demo: string;
}

/** Secrets of one golden cloud, created with the cloud and kept in a file of mode 0600. */
export interface LabSecrets extends LabPasswords {
  /** Key with which Barbican encrypts its secrets. */
  readonly secretsKey: string;
  /** Certificate of the APIs on the management address. */
  readonly tls: ServerTls;
  /** Certificate and key for the hosts of the front. */
  readonly front: CertificateWithKey;
}

/**
 * Returns a password of 24 letters and digits (at least 120 bits). Other characters are not
 * allowed, because the password is used in URLs, INI files and SQL.
 */
const password = (): string => {
  let text = "";
  while (text.length < 24)
    text += randomBytes(32)
      .toString("base64")
      .replaceAll(/[^A-Za-z0-9]/g, "");
  return text.slice(0, 24);
};

export function generatePasswords(): LabPasswords {
  return {
    database: password(),
    bus: password(),
    service: password(),
    metadata: password(),
    admin: password(),
    demo: password(),
  };
}

/** Returns a Fernet key: 32 bytes in URL-safe base64, with padding. */
const fernetKey = (): string => `${randomBytes(32).toString("base64url")}=`;

/** Creates new secrets. Needs the command `openssl`. */
export const generateLabSecrets = async (
  { management }: LabSettings,
  paths: Pick<LabPaths, "front">,
): Promise<LabSecrets> => ({
  ...generatePasswords(),
  secretsKey: fernetKey(),
  tls: await createServerTls(management.cloud),
  front: await createFrontCertificate(paths),
});

/** Placeholders for secrets. The key of a golden cloud is computed with these values. */
export const placeholderSecrets: LabSecrets = {
  database: "x",
  bus: "x",
  service: "x",
  metadata: "x",
  admin: "x",
  demo: "x",
  secretsKey: "x",
  tls: { authority: "x", certificate: "x", privateKey: "x" },
  front: { certificate: "x", privateKey: "x" },
};
