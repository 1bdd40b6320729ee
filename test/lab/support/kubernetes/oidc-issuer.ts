import { createSign, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServerTls } from "../../../../packages/lab/certificates.js";

/** OpenID Connect provider that issues tokens for any user of a test. */
export interface OidcIssuer {
  readonly url: string;
  /** PEM certificate of the CA that signed the provider's server certificate. */
  readonly ca: string;
  /** Returns a token for a client, valid for one hour. */
  token(claims: Readonly<Record<string, unknown>>): string;
  close(): Promise<void>;
}

const kid = "test";
const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/**
 * Starts an OpenID Connect provider at an address that machines can reach. It serves its metadata
 * and the public signing key (OpenID Connect Discovery 1.0).
 */
export async function startIssuer(host: string): Promise<OidcIssuer> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const tls = await createServerTls(host);
  let url = "";
  const documents = (): Readonly<Record<string, object>> => ({
    "/.well-known/openid-configuration": {
      issuer: url,
      jwks_uri: `${url}/keys`,
      authorization_endpoint: `${url}/none`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    },
    "/keys": { keys: [{ ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" }] },
  });
  const server = createServer({ key: tls.privateKey, cert: tls.certificate }, (asked, answer) => {
    const document = documents()[asked.url ?? ""];
    answer.writeHead(document ? 200 : 404, { "content-type": "application/json" });
    answer.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  url = `https://${host}:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    ca: tls.authority,
    token: (claims) => {
      const now = Math.floor(Date.now() / 1000);
      const head = encoded({ alg: "RS256", typ: "JWT", kid });
      const content = encoded({ iss: url, iat: now, exp: now + 3600, ...claims });
      const signed = createSign("RSA-SHA256").update(`${head}.${content}`).sign(privateKey);
      return `${head}.${content}.${signed.toString("base64url")}`;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
