import { randomBytes } from "node:crypto";
import type { LabPaths, LabSettings } from "../settings.js";
import { certifyFront } from "../front/authority.js";
import { newServerTls, type Certified, type ServerTls } from "../certificates.js";

/** Of the services among themselves, and of the cloud's users. */
export interface LabPasswords {
  readonly database: string;
  readonly bus: string;
  /** The service user `svc` that the services use among themselves. */
  readonly service: string;
  /** Shared between Nova and Neutron's metadata agent. */
  readonly metadata: string;
  readonly admin: string;
  readonly demo: string;
}

/** What one golden cloud keeps to itself: made once with it, kept in a file of mode 0600 beside it. */
export interface LabSecrets extends LabPasswords {
  /** By which Barbican encrypts what it keeps. */
  readonly secretsKey: string;
  /** Of the APIs on the management address. */
  readonly tls: ServerTls;
  /** Certificate and key of the hosts of the front. */
  readonly front: Certified;
}

/** Letters and digits only: they stand in URLs, INI files and SQL. 24 characters, at least 120 bits. */
const password = (): string => {
  let text = "";
  while (text.length < 24)
    text += randomBytes(32)
      .toString("base64")
      .replaceAll(/[^A-Za-z0-9]/g, "");
  return text.slice(0, 24);
};

export function newPasswords(): LabPasswords {
  return {
    database: password(),
    bus: password(),
    service: password(),
    metadata: password(),
    admin: password(),
    demo: password(),
  };
}

/** A key of Fernet: 32 bytes in base64 for URLs, with its padding. */
const fernetKey = (): string => `${randomBytes(32).toString("base64url")}=`;

/** Needs the command `openssl`. */
export const newSecrets = async (
  { management }: LabSettings,
  paths: Pick<LabPaths, "front">,
): Promise<LabSecrets> => ({
  ...newPasswords(),
  secretsKey: fernetKey(),
  tls: await newServerTls(management.cloud),
  front: await certifyFront(paths),
});

/** Stand in for the real ones where only the shape of a configuration counts: when it is hashed. */
export const noSecrets: LabSecrets = {
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
