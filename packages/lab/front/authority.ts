import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replacePrivateFile } from "../../../base/atomic-files.js";
import { createAuthority, createCertificate, type CertificateWithKey } from "../certificates.js";
import type { LabPaths } from "../settings.js";
import { listFrontHostNames } from "./hosts.js";

const files = ({ front }: Pick<LabPaths, "front">) => ({
  certificate: join(front, "authority.crt"),
  privateKey: join(front, "authority.key"),
});

/**
 * Returns the certificate (PEM) of the authority that signs for the front's hosts. Images must
 * trust this authority. Returns undefined before the first `lab up`. A new certificate causes a new
 * server image and golden cloud.
 */
export function readFrontAuthorityCertificate(paths: Pick<LabPaths, "front">): string | undefined {
  const { certificate, privateKey } = files(paths);
  return existsSync(certificate) && existsSync(privateKey)
    ? readFileSync(certificate, "utf8")
    : undefined;
}

/**
 * Returns the authority's certificate. The first call creates certificate and key and stores both
 * in the cache, readable only by the owner. Images trust this authority for years.
 */
export async function ensureFrontAuthority(paths: Pick<LabPaths, "front">): Promise<string> {
  const kept = readFrontAuthorityCertificate(paths);
  if (kept !== undefined) return kept;
  const made = await createAuthority();
  // Writes the key first, because `readFrontAuthorityCertificate` needs both files.
  replacePrivateFile(files(paths).privateKey, made.privateKey);
  replacePrivateFile(files(paths).certificate, made.certificate);
  return made.certificate;
}

/** Creates a certificate for all hosts of the front, signed by the lab's authority. */
export async function createFrontCertificate(
  paths: Pick<LabPaths, "front">,
): Promise<CertificateWithKey> {
  const certificate = await ensureFrontAuthority(paths);
  const authority = { certificate, privateKey: readFileSync(files(paths).privateKey, "utf8") };
  return createCertificate(
    authority,
    listFrontHostNames().map((name) => `DNS:${name}`),
  );
}
