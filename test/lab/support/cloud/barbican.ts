import { run } from "../../../../base/run-command.js";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import type { ServerTls } from "../../../../packages/lab/certificates.js";

type Refs = Readonly<Record<string, string>>;

/** Secrets and containers that a test creates in Barbican. */
export class Barbican {
  readonly #made: string[] = [];

  constructor(private readonly cloud: CloudClient) {}

  async #store(what: "secrets" | "containers", body: object): Promise<string> {
    const answer = (await this.cloud.request("key-manager", "POST", `/${what}`, body)) as Refs;
    const ref = answer["secret_ref"] ?? answer["container_ref"] ?? "";
    this.#made.unshift(`/${what}/${ref.split("/").at(-1) ?? ""}`);
    return ref;
  }

  /**
   * Stores the certificate and the key as two secrets in a `certificate` container. Returns the URL
   * of the container.
   */
  async container(name: string, { certificate, privateKey }: ServerTls): Promise<string> {
    const secret = (payload: string, kind: string): Promise<string> =>
      this.#store("secrets", {
        name: `${name}-${kind}`,
        secret_type: kind,
        payload,
        payload_content_type: "text/plain",
      });
    const refs = {
      certificate: await secret(certificate, "certificate"),
      private_key: await secret(privateKey, "private"),
    };
    return this.#store("containers", {
      name,
      type: "certificate",
      secret_refs: Object.entries(refs).map(([part, ref]) => ({ name: part, secret_ref: ref })),
    });
  }

  /**
   * Stores the certificate and the key as one secret, which contains a PKCS #12 file. Returns the
   * URL of the secret.
   */
  async bundle(name: string, { certificate, privateKey }: ServerTls): Promise<string> {
    // openssl reads its input twice, for the certificate and for the key. A pipe can be read only
    // once, so the script writes a file.
    const line =
      'file=$(mktemp) && trap \'rm -f "$file"\' EXIT && cat >"$file" && openssl pkcs12 -export -passout pass: -in "$file" | openssl base64 -A';
    const { stdout } = await run("sh", ["-c", line], { input: certificate + privateKey });
    return this.#store("secrets", {
      name,
      secret_type: "opaque",
      payload: stdout.trim(),
      payload_content_type: "application/octet-stream",
      payload_content_encoding: "base64",
    });
  }

  /** Deletes everything that was stored. Deletes containers before their secrets. */
  async remove(): Promise<void> {
    for (const path of this.#made.splice(0))
      await this.cloud.request("key-manager", "DELETE", path);
  }

  async count(): Promise<number> {
    const { total } = (await this.cloud.request("key-manager", "GET", "/secrets?limit=1")) as {
      total: number;
    };
    return total;
  }
}
