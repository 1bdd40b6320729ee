import { until } from "../cloud/foreign.js";
import { kubectlOn } from "./kubectl.js";
import { inServer } from "../machines/machines.js";

export interface StolenToken {
  /** ID of the server of the control plane that issues the token. */
  readonly controlPlane: string;
  /**
   * Machine for which the token is issued. No such machine exists, so that no real machine joins
   * with this name.
   */
  readonly machine: string;
}

/**
 * Requests the certificate of `node` with the token of another machine. Returns the conditions of
 * the request.
 */
export async function certificateFor(
  { controlPlane, machine }: StolenToken,
  node: string,
): Promise<string> {
  const words = `token ${machine} 00000000-0000-4000-8000-000000000000 10.0.0.9 token`;
  const given = await inServer(controlPlane, `/usr/local/sbin/stackadm-mint ${words}`);
  const [token = ""] = given.split(" ");
  const name = `stolen-${token.slice(0, 6)}`;
  const key = `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -subj /O=system:nodes/CN=system:node:${node} 2>/dev/null`;
  const request = (await inServer(controlPlane, `${key} | base64 -w0`)).trim();
  const manifest = `
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: ${name}}
spec:
  request: ${request}
  signerName: kubernetes.io/kube-apiserver-client-kubelet
  usages: [client auth, digital signature]
`;
  // Does not use the administrator's kubeconfig, because its certificate would take precedence over
  // the token.
  const server =
    "kubectl --kubeconfig=/etc/kubernetes/admin.conf config view -o 'jsonpath={.clusters[0].cluster.server}'";
  const api = `--kubeconfig=/dev/null --server="$(${server})"`;
  const ca = "--certificate-authority=/etc/kubernetes/pki/ca.crt";
  await inServer(controlPlane, `kubectl ${api} ${ca} --token=${token} create -f -`, manifest);
  const what = "-o jsonpath='{.status.conditions[*].type}'";
  let conditions = "";
  await until(async () => {
    conditions = await kubectlOn(controlPlane, `get csr ${name} ${what}`);
    return conditions !== "";
  });
  await inServer(controlPlane, `kubeadm token delete ${token.slice(0, 6)}`);
  return conditions.trim();
}
