import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../../../../../base/run-command.js";

/** Options of a fake API server. */
export interface FakeApiOptions {
  /** Key and certificate of the server. @default a certificate for 127.0.0.1 */
  readonly pair?: { readonly key: string; readonly cert: string };
  /** Address on which the server listens. @default 127.0.0.1 */
  readonly host?: string;
  /** Port on which the server listens. @default any free port */
  readonly port?: number;
  /** Whether the server also accepts requests without the token. @default false */
  readonly anonymous?: boolean;
}

let pair: Promise<{ key: string; cert: string }> | undefined;

/**
 * Returns a key and a certificate for 127.0.0.1, which are created once per process. Needs the
 * command `openssl`.
 */
export function selfSigned(): Promise<{ key: string; cert: string }> {
  pair ??= make();
  return pair;
}

async function make(): Promise<{ key: string; cert: string }> {
  const directory = await mkdtemp(join(tmpdir(), "stackadm-certificate-"));
  const [keyFile, certFile] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  try {
    await run("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-subj", "/CN=fake", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"],
      ...["-keyout", keyFile, "-out", certFile],
    ]);
    return { key: await readFile(keyFile, "utf8"), cert: await readFile(certFile, "utf8") };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Returns a kubeconfig with a token, for a server on this machine. */
export function kubeconfigFor(server: {
  port: number;
  certificate: string;
  token: string;
}): string {
  const cluster = {
    server: `https://127.0.0.1:${server.port}`,
    "certificate-authority-data": Buffer.from(server.certificate).toString("base64"),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "fake",
    contexts: [{ name: "fake", context: { cluster: "fake", user: "fake" } }],
    clusters: [{ name: "fake", cluster }],
    users: [{ name: "fake", user: { token: server.token } }],
  });
}
