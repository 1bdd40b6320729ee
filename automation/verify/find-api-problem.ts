import { Failure } from "../../base/failures/failure.js";
import type { FailureCode } from "../../base/failures/failure-codes.js";
import type { KubernetesApi } from "./kubernetes-client.js";

/*
 * Checks whether a cluster's API can be used: the API server is ready, and etcd still has the
 * cluster's data.
 */

export interface ApiProblem {
  readonly code: FailureCode;
  readonly text: string;
  /** Whether the problem is permanent, so that a later request fails in the same way. */
  readonly final: boolean;
  /** Whether a ready API server shows that etcd lost the cluster's data. */
  readonly lostData: boolean;
}

/**
 * Path of a ConfigMap that kubeadm creates in each cluster. A request for this ConfigMap shows
 * whether etcd lost its data. An API server without data reports that it is ready. But it has no
 * such ConfigMap, and the client has no permissions.
 */
const kubeadmConfigPath = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";

/** Returns the reason why the API cannot be used, or undefined if it can be used. */
export async function findApiProblem(api: KubernetesApi): Promise<ApiProblem | undefined> {
  try {
    const { status, body } = await api.send("GET", "/readyz");
    const refused = (answer: number): boolean => answer === 401 || answer === 403;
    if (status !== 200)
      return {
        code: refused(status) ? "KUBERNETES_LOGIN_REFUSED" : "KUBERNETES_UNREACHABLE",
        text: `it answers ${status}: ${body.trim().slice(0, 100)}`,
        final: refused(status),
        lostData: false,
      };
    const { status: known } = await api.send("GET", kubeadmConfigPath);
    if (known === 200) return undefined;
    const lostData = known === 403 || known === 404;
    return {
      code: known === 401 ? "KUBERNETES_LOGIN_REFUSED" : "KUBERNETES_UNREACHABLE",
      text: `it is ready, but answers ${known} to a request for kubeadm's configuration: etcd may have lost the cluster's data`,
      final: lostData || known === 401,
      lostData,
    };
  } catch (error) {
    const text = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    const code = error instanceof Failure ? error.code : "KUBERNETES_UNREACHABLE";
    return { code, text, final: code === "KUBERNETES_UNTRUSTED", lostData: false };
  }
}
