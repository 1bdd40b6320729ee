import { X509Certificate } from "node:crypto";
import { parse } from "yaml";
import { z } from "zod";
import { toYaml } from "../../base/yaml.js";

const adminConf = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ "certificate-authority-data": z.string() }) }),
  ]),
  users: z.tuple([
    z.object({
      user: z.object({ "client-certificate-data": z.string(), "client-key-data": z.string() }),
    }),
  ]),
});

/** Validity of a kubeconfig's client certificate, as two times in the format of RFC 3339. */
export interface CertificateValidity {
  readonly from: string;
  readonly to: string;
}

/**
 * Returns whether less than 30 % of the certificate's lifetime is left. A control plane renews its
 * certificates earlier, when less than a third is left. Below 30 %, a control plane therefore has a
 * newer kubeconfig, or creates one when its script runs.
 */
export const isDueForRenewal = ({ from, to }: CertificateValidity, now: number): boolean =>
  now > Date.parse(to) - 0.3 * (Date.parse(to) - Date.parse(from));

/**
 * Returns the validity of a kubeconfig's client certificate. Returns undefined if it cannot be
 * read.
 */
export function parseClientCertificateValidity(
  kubeconfig: string,
): CertificateValidity | undefined {
  try {
    const { users } = adminConf.parse(parse(kubeconfig));
    const encoded = users[0].user["client-certificate-data"];
    const { validFrom, validTo } = new X509Certificate(Buffer.from(encoded, "base64"));
    return { from: new Date(validFrom).toISOString(), to: new Date(validTo).toISOString() };
  } catch {
    return undefined;
  }
}

export interface KubeconfigNames {
  readonly cluster: string;
  /** Address and port of the API for clients outside the cluster's network: "203.0.113.7:6443". */
  readonly endpoint: string;
}

/**
 * Returns kubeadm's administrator kubeconfig with the address `endpoint`. All names in the
 * kubeconfig contain the cluster's name, so that users can merge kubeconfigs of several clusters.
 */
export function renderKubeconfig(admin: string, { cluster, endpoint }: KubeconfigNames): string {
  const { clusters, users } = adminConf.parse(parse(admin));
  const user = `admin@${cluster}`;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: cluster, cluster: { ...clusters[0].cluster, server: `https://${endpoint}` } },
    ],
    users: [{ name: user, user: users[0].user }],
    contexts: [{ name: user, context: { cluster, user } }],
    "current-context": user,
  };
  return toYaml(config);
}
