import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../base/run.js";

/** What a server proves itself by to those who trust the authority; all PEM. */
export interface ServerTls {
  /** Certificate of the authority that signed the server's. */
  readonly authority: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** A cloud lives for days; ten years, so that a kept golden one never ends by this. */
const days = "3650";

/** With all that RFC 5280 asks of both: some clients refuse less. */
const configuration = (address: string): string => `[req]
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
subjectAltName = IP:${address}
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
`;

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/**
 * A certificate for an IPv4 address and the authority that signed it, both new. The authority's key is thrown away: it signs
 * nothing else. Throws where `openssl` (3.0 or newer) is not installed.
 */
export async function newServerTls(address: string): Promise<ServerTls> {
  const folder = await mkdtemp(join(tmpdir(), "stackadm-tls-"));
  const file = (name: string): string => join(folder, name);
  const text = (name: string): Promise<string> => readFile(file(name), "utf8");
  const certify = (name: string, ...more: readonly string[]) =>
    run("openssl", [
      ...["req", "-x509", "-config", file("config"), "-extensions", name, "-days", days, ...newKey],
      ...["-subj", `/CN=stackadm lab ${name}`, "-keyout", file(`${name}.key`)],
      ...["-out", file(`${name}.crt`), ...more],
    ]);
  try {
    await writeFile(file("config"), configuration(address));
    await certify("authority");
    await certify("server", "-CA", file("authority.crt"), "-CAkey", file("authority.key"));
    return {
      authority: await text("authority.crt"),
      certificate: await text("server.crt"),
      privateKey: await text("server.key"),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
