import { createHash } from "node:crypto";
import { toYaml } from "../../base/yaml.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";

type Kubernetes = Pick<ClusterSpec["kubernetes"], "apiServer"> & {
  /** Key, base64 of 32 bytes. @default nothing is encrypted */
  readonly encryptionKey?: string | undefined;
};
type Flags = ClusterSpec["kubernetes"]["apiServer"]["extraArgs"];

/** Directory on control planes that only has the files with the key (scripts/encryption.sh). */
export const encryptionHome = "/etc/kubernetes/stackadm-encryption";
const flag = "encryption-provider-config";

/** Returns the key; undefined if the user names a file of their own, which has keys or a KMS. */
const keyOf = ({ apiServer, encryptionKey }: Kubernetes): string | undefined =>
  flag in apiServer.extraArgs ? undefined : encryptionKey;

/**
 * Returns a digest of the keys with which a control plane can decrypt. Other keys give the file
 * another name, and the API server restarts; if only the order of the providers changes, the name
 * is the same and the API server reloads the file.
 */
const digestOf = (key: string): string =>
  createHash("sha256").update(`secretbox key1 ${key}`).digest("hex").slice(0, 12);

const document = (providers: readonly object[]): string =>
  toYaml({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [{ resources: ["secrets"], providers }],
  });

/** Returns the API server's flags for encryption; undefined if the program has no key for it. */
export function encryptionFlags(kubernetes: Kubernetes): Flags | undefined {
  const key = keyOf(kubernetes);
  return key === undefined
    ? undefined
    : {
        [flag]: `${encryptionHome}/${digestOf(key)}.yaml`,
        [`${flag}-automatic-reload`]: true,
      };
}

/**
 * Returns `DIGEST ENCRYPTS PLAIN` for scripts/encryption.sh; empty without encryption. ENCRYPTS and
 * PLAIN are files in base64. With both, the API server reads encrypted and plain Secrets; with the
 * first it writes encrypted ones, with the second plain ones.
 */
export function encryptionFile(kubernetes: Kubernetes): string {
  const key = keyOf(kubernetes);
  if (key === undefined) return "";
  const own = { secretbox: { keys: [{ name: "key1", secret: key }] } };
  const texts = [
    [own, { identity: {} }],
    [{ identity: {} }, own],
  ].map((providers) => Buffer.from(document(providers)).toString("base64"));
  return [digestOf(key), ...texts].join(" ");
}
