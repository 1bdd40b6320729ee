import {
  getListAt,
  getMapAt,
  getNumberAt,
  getTextAt,
} from "../../../../../stand-ins/kubernetes/objects/json.js";
import type { FakeApiServer } from "./fake-api-server.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Kind of object that the fake server supports. */
export interface Served {
  readonly prefix: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const served = (prefix: string, namespaced: boolean, kinds: Record<string, string>): Served[] =>
  Object.entries(kinds).map(([kind, plural]) => ({ prefix, kind, plural, namespaced }));

export const builtIns: readonly Served[] = [
  ...served("/api/v1", true, {
    ConfigMap: "configmaps",
    Endpoints: "endpoints",
    Event: "events",
    PersistentVolumeClaim: "persistentvolumeclaims",
    Pod: "pods",
    Secret: "secrets",
    Service: "services",
    ServiceAccount: "serviceaccounts",
  }),
  ...served("/api/v1", false, { Namespace: "namespaces", PersistentVolume: "persistentvolumes" }),
  ...served("/apis/apps/v1", true, {
    DaemonSet: "daemonsets",
    Deployment: "deployments",
    ReplicaSet: "replicasets",
    StatefulSet: "statefulsets",
  }),
  ...served("/apis/batch/v1", true, { Job: "jobs" }),
  ...served("/apis/storage.k8s.io/v1", false, { StorageClass: "storageclasses" }),
  ...served("/apis/rbac.authorization.k8s.io/v1", false, { ClusterRole: "clusterroles" }),
  ...served("/apis/apiextensions.k8s.io/v1", false, {
    CustomResourceDefinition: "customresourcedefinitions",
  }),
];

/** Simulates the controllers of a cluster, which make a stored object ready at once. */
export function simulateControllers(server: FakeApiServer, object: JsonObject): void {
  const status = reactions[getTextAt(object, "kind")]?.(object, server);
  if (status) server.change(object, { status });
}

type Reaction = (object: JsonObject, server: FakeApiServer) => JsonObject | undefined;

const generation = (object: JsonObject): number =>
  getNumberAt(object, "metadata", "generation") ?? 1;
const yes = (type: string, reason = type): JsonObject => ({
  type,
  reason,
  status: "True",
  message: "",
});

const reactions: Record<string, Reaction | undefined> = {
  Namespace: () => ({ phase: "Active" }),
  CustomResourceDefinition: establish,
  Deployment: rollOut,
  DaemonSet: (object) => ({
    observedGeneration: generation(object),
    ...Object.fromEntries(
      ["desired", "current", "updated"].map((name) => [`${name}NumberScheduled`, 2]),
    ),
    numberAvailable: 2,
    numberReady: 2,
  }),
  StatefulSet: (object) => {
    const replicas = getNumberAt(object, "spec", "replicas") ?? 1;
    return {
      observedGeneration: generation(object),
      replicas,
      readyReplicas: replicas,
      currentReplicas: replicas,
      updatedReplicas: replicas,
      currentRevision: "one",
      updateRevision: "one",
    };
  },
  Job: () => ({
    startTime: "2026-01-01T00:00:00Z",
    succeeded: 1,
    conditions: [yes("Complete")],
  }),
  Pod: () => ({
    phase: "Running",
    conditions: [yes("PodScheduled"), yes("Initialized"), yes("Ready")],
  }),
  PersistentVolumeClaim: () => ({ phase: "Pending" }),
  Service: expose,
};

function establish(object: JsonObject, server: FakeApiServer): JsonObject {
  const group = getTextAt(object, "spec", "group");
  for (const version of getListAt(object, "spec", "versions")) {
    server.serve({
      prefix: `/apis/${group}/${getTextAt(version, "name")}`,
      kind: getTextAt(object, "spec", "names", "kind"),
      plural: getTextAt(object, "spec", "names", "plural"),
      namespaced: getTextAt(object, "spec", "scope") === "Namespaced",
    });
  }
  return { conditions: [yes("NamesAccepted", "NoConflicts"), yes("Established")] };
}

function rollOut(object: JsonObject, server: FakeApiServer): JsonObject {
  const annotation = "deployment.kubernetes.io/revision";
  const replicas = getNumberAt(object, "spec", "replicas") ?? 1;
  const metadata = {
    name: `${getTextAt(object, "metadata", "name")}-1`,
    namespace: getTextAt(object, "metadata", "namespace"),
    labels: getMapAt(object, "spec", "selector", "matchLabels"),
    annotations: { [annotation]: "1" },
    ownerReferences: [{ kind: "Deployment", uid: getTextAt(object, "metadata", "uid") }],
  };
  const set = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: { replicas } };
  server.put({ ...set, status: { readyReplicas: replicas } });
  server.change(object, { metadata: { annotations: { [annotation]: "1" } } });
  return {
    observedGeneration: generation(object),
    replicas,
    conditions: [yes("Progressing", "NewReplicaSetAvailable"), yes("Available")],
  };
}

function expose(object: JsonObject, server: FakeApiServer): JsonObject {
  const metadata = {
    name: getTextAt(object, "metadata", "name"),
    namespace: getTextAt(object, "metadata", "namespace"),
  };
  const subsets = [{ addresses: [{ ip: "10.244.0.2" }] }];
  server.put({ apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  const ingress = getTextAt(object, "spec", "type") === "LoadBalancer" ? [{ ip: "192.0.2.7" }] : [];
  return { loadBalancer: ingress.length > 0 ? { ingress } : {} };
}
