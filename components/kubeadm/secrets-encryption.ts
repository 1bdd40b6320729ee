import { createHash } from "node:crypto";
import { toYaml } from "../../base/yaml.js";
import type { ClusterSpec } from "../config/cluster-spec.js";

type Kubernetes = Pick<ClusterSpec["kubernetes"], "apiServer"> & {
  /** Encryption key: 32 bytes in base64. @default Secrets are not encrypted */
  readonly encryptionKey?: string | undefined;
};
type Flags = ClusterSpec["kubernetes"]["apiServer"]["extraArgs"];

/**
 * Directory on control planes that contains only the files with the encryption key
 * (scripts/install-encryption.sh).
 */
export const encryptionDirectory = "/etc/kubernetes/stackadm-encryption";
const flag = "encryption-provider-config";

/**
 * Returns the encryption key. Returns undefined if the user's flags name an encryption file. Such a
 * file contains keys or the address of a KMS.
 */
const keyOf = ({ apiServer, encryptionKey }: Kubernetes): string | undefined =>
  flag in apiServer.extraArgs ? undefined : encryptionKey;

/**
 * Returns a digest of the key for the file's name. A new key changes the name and thus the flag, so
 * the API server restarts. The order of the providers does not change the name, because the API
 * server reloads the file itself.
 */
const digestOf = (key: string): string =>
  createHash("sha256").update(`secretbox key1 ${key}`).digest("hex").slice(0, 12);

const document = (providers: readonly object[]): string =>
  toYaml({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [{ resources: ["secrets"], providers }],
  });

/** Returns the API server's flags for encryption. Returns undefined without an encryption key. */
export function getEncryptionFlags(kubernetes: Kubernetes): Flags | undefined {
  const key = keyOf(kubernetes);
  return key === undefined
    ? undefined
    : {
        [flag]: `${encryptionDirectory}/${digestOf(key)}.yaml`,
        [`${flag}-automatic-reload`]: true,
      };
}

/**
 * Returns the two encryption files for scripts/install-encryption.sh as `DIGEST ENCRYPTS PLAIN`.
 * ENCRYPTS and PLAIN are the contents in base64. With either file, the API server can read
 * encrypted and plain Secrets. The API server writes encrypted Secrets with ENCRYPTS, and plain
 * Secrets with PLAIN. Returns "" without an encryption key.
 */
export function renderEncryptionFiles(kubernetes: Kubernetes): string {
  const key = keyOf(kubernetes);
  if (key === undefined) return "";
  const own = { secretbox: { keys: [{ name: "key1", secret: key }] } };
  const texts = [
    [own, { identity: {} }],
    [{ identity: {} }, own],
  ].map((providers) => Buffer.from(document(providers)).toString("base64"));
  return [digestOf(key), ...texts].join(" ");
}
