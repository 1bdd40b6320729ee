import { createHash } from "node:crypto";
import { toYaml } from "../../base/yaml.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";

type Kubernetes = Pick<ClusterSpec["kubernetes"], "apiServer"> & {
  /** Base64 of 32 bytes. Absent: nothing is encrypted. */
  readonly encryptionKey?: string | undefined;
};
type Flags = ClusterSpec["kubernetes"]["apiServer"]["extraArgs"];

/** Where control planes have the file with the key, beside nothing else (scripts/encryption.sh). */
export const encryptionHome = "/etc/kubernetes/stackadm-encryption";
const flag = "encryption-provider-config";

/** Who has a file of his own has keys of his own, and a KMS perhaps. */
const keyOf = ({ apiServer, encryptionKey }: Kubernetes): string | undefined =>
  flag in apiServer.extraArgs ? undefined : encryptionKey;

/**
 * Which keys a control plane reads: of its keys alone, whichever writes. Other keys are another file, with which the API server
 * starts again; what comes first is no other file, and is read anew.
 */
const digestOf = (key: string): string =>
  createHash("sha256").update(`secretbox key1 ${key}`).digest("hex").slice(0, 12);

const document = (providers: readonly object[]): string =>
  toYaml({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [{ resources: ["secrets"], providers }],
  });

/** The API server's flags; nothing where it encrypts nothing of ours. */
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
 * For scripts/encryption.sh: `DIGEST ENCRYPTS PLAIN`. Both files, in base64, read what is encrypted and what is plain; the first
 * writes encrypted, the second plain. Nothing where nothing is encrypted.
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
