import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../base/run.js";

/** A certificate with its key; both PEM. */
export interface Certified {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A server's certificate and key, and the authority that signed it; all PEM. */
export interface ServerTls extends Certified {
  /** Certificate of the authority that signed the server's. */
  readonly authority: string;
}

/** A cloud lives for days; ten years, so that a kept golden one never ends by this. */
const days = "3650";

/** With all that RFC 5280 asks of both: some clients refuse less. */
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

interface Wanted {
  readonly section: "authority" | "server";
  /** As in a configuration file of openssl: `IP:172.29.0.2`, `DNS:registry.example`. */
  readonly names: readonly string[];
  /** Default: it signs itself. */
  readonly authority?: Certified;
}

async function certify({ section, names, authority }: Wanted): Promise<Certified> {
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

/** An authority of the lab's own. Throws where `openssl` (3.0 or newer) is not installed. */
export const newAuthority = (): Promise<Certified> => certify({ section: "authority", names: [] });

/** A server's certificate for names, as in `IP:172.29.0.2` and `DNS:registry.example`. */
export const newCertificate = (
  authority: Certified,
  names: readonly string[],
): Promise<Certified> => certify({ section: "server", names, authority });

/**
 * A certificate for an IPv4 address and the authority that signed it, both new. The authority's key is thrown away: it signs
 * nothing else.
 */
export async function newServerTls(address: string): Promise<ServerTls> {
  const authority = await newAuthority();
  const server = await newCertificate(authority, [`IP:${address}`]);
  return { authority: authority.certificate, ...server };
}
