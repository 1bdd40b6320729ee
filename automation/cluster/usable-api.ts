import type { KubernetesApi } from "../verify/kubernetes-api.js";

/* Whether a cluster can be asked at all: more than that something answers at its address. */

export interface Complaint {
  readonly text: string;
  /** Waiting does not help: the credentials are refused, they may have expired. */
  readonly final: boolean;
}

/** What kubeadm has left in each cluster. An API server whose etcd begins anew is ready, and knows nothing of it or of who asks. */
const memory = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";

/** Why the API cannot be used; undefined when it can. */
export async function complaintOf(api: KubernetesApi): Promise<Complaint | undefined> {
  try {
    const { status, body } = await api.send("GET", "/readyz");
    const refused = (answer: number): boolean => answer === 401 || answer === 403;
    if (status !== 200)
      return {
        text: `it answers ${status}: ${body.trim().slice(0, 100)}`,
        final: refused(status),
      };
    const { status: known } = await api.send("GET", memory);
    if (known === 200) return undefined;
    return {
      text: `it is ready, but answers ${known} when it is asked how the cluster was made: etcd may have lost the cluster's data`,
      final: refused(known) || known === 404,
    };
  } catch (error) {
    const text = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    return { text, final: false };
  }
}
