import { z } from "zod";
import type { KubernetesApi } from "./kubernetes-client.js";

const podSchema = z.looseObject({
  status: z.looseObject({
    phase: z.string().default("Unknown"),
    conditions: z
      .array(
        z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() }),
      )
      .default([]),
  }),
});

/**
 * Returns the reason why a pod is not Ready, with kubelet's message if there is one. Undefined for
 * a ready pod.
 */
export async function findPodProblem(
  api: KubernetesApi,
  namespace: string,
  name: string,
): Promise<string | undefined> {
  const found = await api.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
  if (found === undefined) return `there is no pod ${namespace}/${name}`;
  const { phase, conditions } = podSchema.parse(found).status;
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  return `pod ${name} is ${phase}, not Ready: ${ready?.message ?? "no reason is given"}`;
}
