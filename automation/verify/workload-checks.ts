import { z } from "zod";
import { runCheck, type Check, type VerificationRun } from "./check.js";

const kinds = ["DaemonSet", "Deployment", "StatefulSet"] as const;

/** Workload that must have all its pods: an add-on of the cluster. */
export interface Workload {
  readonly kind: (typeof kinds)[number];
  readonly namespace: string;
  readonly name: string;
  /** Whether the workload may be absent. @default false */
  readonly mayBeAbsent?: boolean;
}

export const isWorkloadKind = (kind: string): kind is Workload["kind"] =>
  (kinds as readonly string[]).includes(kind);

/**
 * Workloads that kubeadm deploys. kube-proxy does not exist if the pod network replaces it, and the
 * user may replace CoreDNS.
 */
export const kubeadmWorkloads: readonly Workload[] = [
  { kind: "Deployment", namespace: "kube-system", name: "coredns", mayBeAbsent: true },
  { kind: "DaemonSet", namespace: "kube-system", name: "kube-proxy", mayBeAbsent: true },
];

const listSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string(), generation: z.number().default(0) }),
      spec: z.looseObject({ replicas: z.number().default(1) }).default({ replicas: 1 }),
      status: z
        .looseObject({
          observedGeneration: z.number().default(0),
          // DaemonSets.
          desiredNumberScheduled: z.number().optional(),
          numberAvailable: z.number().default(0),
          // Deployments and StatefulSets.
          availableReplicas: z.number().default(0),
        })
        .prefault({}),
    }),
  ),
});
type WorkloadItem = z.infer<typeof listSchema>["items"][number];

/** Returns the number of pods that are available, and of those that must be available. */
function countPods(
  { kind }: Workload,
  { spec, status }: WorkloadItem,
): { readonly available: number; readonly wanted: number } {
  return kind === "DaemonSet"
    ? { available: status.numberAvailable, wanted: status.desiredNumberScheduled ?? 0 }
    : { available: status.availableReplicas, wanted: spec.replicas };
}

const notDeployed = "not deployed";

/** Returns the state of a workload. Throws if it does not exist, or if pods are missing. */
function describeWorkload(workload: Workload, items: readonly WorkloadItem[]): string {
  const item = items.find(({ metadata }) => metadata.name === workload.name);
  if (item === undefined) {
    if (workload.mayBeAbsent === true) return notDeployed;
    throw new Error("does not exist; `stackadm up --refresh` creates it again");
  }
  if (item.status.observedGeneration < item.metadata.generation)
    throw new Error("Kubernetes has not processed its last change");
  const { available, wanted } = countPods(workload, item);
  const text = `${String(available)} of ${String(wanted)} pods are available`;
  if (available < wanted) {
    const where = `-n ${workload.namespace} ${workload.kind.toLowerCase()}/${workload.name}`;
    throw new Error(`${text}; \`kubectl describe ${where}\` says more`);
  }
  return text;
}

/**
 * Checks that each workload has all its pods. Leaves out absent workloads that may be absent. Sends one request for each kind and namespace, and
 * repeats it until all pods are available or the time limit has passed.
 */
export async function checkWorkloads(
  run: VerificationRun,
  workloads: readonly Workload[],
): Promise<Check[]> {
  const read = async ({ namespace, kind }: Workload): Promise<readonly WorkloadItem[]> => {
    const path = `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
    return listSchema.parse((await run.api.get(path)) ?? { items: [] }).items;
  };
  /** Requests that have no answer yet, so that concurrent checks share one request. */
  const open = new Map<string, Promise<readonly WorkloadItem[]>>();
  const readOnce = (workload: Workload): Promise<readonly WorkloadItem[]> => {
    const key = `${workload.kind} ${workload.namespace}`;
    const reading = open.get(key) ?? read(workload).finally(() => open.delete(key));
    open.set(key, reading);
    return reading;
  };
  const checks = await Promise.all(
    workloads.map((workload) =>
      runCheck("add-on", `${workload.namespace}/${workload.name}`, {
        options: run,
        attempt: async () => describeWorkload(workload, await readOnce(workload)),
      }),
    ),
  );
  return checks.filter(({ answer }) => answer !== notDeployed);
}
