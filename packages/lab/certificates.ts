import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../base/run-command.js";

/** Certificate and key in PEM format. */
export interface CertificateWithKey {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Certificate and key of a TLS server, and the certificate of its authority, in PEM format. */
export interface ServerTls extends CertificateWithKey {
  /** Certificate of the authority that signed the server's certificate. */
  readonly authority: string;
}

/** Validity of a certificate in days: ten years, because a golden cloud keeps its certificates. */
const days = "3650";

/**
 * Returns openssl's configuration with every extension that RFC 5280 requires. Some clients refuse
 * certificates without these extensions.
 */
const configuration = (names: readonly string[]): string => `[req]
distinguished_name = name
prompt = no
[name]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = ${names.length > 0 ? names.join(",") : "DNS:localhost"}
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
`;

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

interface CertificateRequest {
  readonly section: "authority" | "server";
  /**
   * Names in the form of openssl's configuration files: `IP:172.29.0.2`, `DNS:registry.example`.
   */
  readonly names: readonly string[];
  /** Authority that signs the certificate. @default the certificate signs itself */
  readonly authority?: CertificateWithKey;
}

async function certify({
  section,
  names,
  authority,
}: CertificateRequest): Promise<CertificateWithKey> {
  const folder = await mkdtemp(join(tmpdir(), "stackadm-tls-"));
  const file = (name: string): string => join(folder, name);
  const text = (name: string): Promise<string> => readFile(file(name), "utf8");
  try {
    await writeFile(file("config"), configuration(names));
    if (authority) {
      await writeFile(file("ca.crt"), authority.certificate);
      await writeFile(file("ca.key"), authority.privateKey, { mode: 0o600 });
    }
    await run("openssl", [
      ...["req", "-x509", "-config", file("config"), "-extensions", section, "-days", days],
      ...[...newKey, "-subj", `/CN=stackadm lab ${section}`, "-keyout", file("key")],
      ...["-out", file("crt")],
      ...(authority ? ["-CA", file("ca.crt"), "-CAkey", file("ca.key")] : []),
    ]);
    return { certificate: await text("crt"), privateKey: await text("key") };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates a certificate authority. Throws if `openssl` (3.0 or newer) is not installed. */
export const createAuthority = (): Promise<CertificateWithKey> =>
  certify({ section: "authority", names: [] });

/** Creates a server's certificate for names such as `IP:172.29.0.2` and `DNS:registry.example`. */
export const createCertificate = (
  authority: CertificateWithKey,
  names: readonly string[],
): Promise<CertificateWithKey> => certify({ section: "server", names, authority });

/**
 * Creates a server certificate for an IPv4 address and the authority that signs the certificate.
 * Discards the key of this authority, because the authority signs no other certificate.
 */
export async function createServerTls(address: string): Promise<ServerTls> {
  const authority = await createAuthority();
  const server = await createCertificate(authority, [`IP:${address}`]);
  return { authority: authority.certificate, ...server };
}
