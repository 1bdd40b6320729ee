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

/** How long what a kubeconfig signs in with is good, as moments of RFC 3339. */
export interface Validity {
  readonly from: string;
  readonly to: string;
}

/** Of the administrator's certificate in a kubeconfig; undefined where there is none that can be read. */
export function validityOf(kubeconfig: string): Validity | undefined {
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
  /** Address and port at which the API is reached from outside: "203.0.113.7:6443". */
  readonly endpoint: string;
}

/** The administrator's kubeconfig as kubeadm wrote it, told to use `endpoint`, with names that can be merged. */
export function kubeconfigFor(admin: string, { cluster, endpoint }: KubeconfigNames): string {
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
