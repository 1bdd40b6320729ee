import { z } from "zod";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { controlPlaneComponentName } from "../../components/plan/cluster-plan.js";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-client.js";
import type {
  ClaimedVolume,
  ServiceFloatingIp,
  VolumeSnapshot,
} from "../engine/operation-options.js";
import type { StackOperation } from "../engine/operation-context.js";
import { readClustersInState } from "../engine/kubernetes-providers.js";
import type { StateExport } from "../pulumi/stack-state.js";
import { parseUrn } from "../pulumi/urn.js";

/*
 * Predicts for each volume, floating IP and snapshot of a cluster's controllers whether a destroy
 * deletes or keeps the object. Only Kubernetes has this information: the reclaim policies of
 * PersistentVolumes, annotations of Services and deletion policies of snapshots.
 */

/**
 * Time limit in milliseconds for the answer of a cluster's API. Without an answer, the fate of the
 * objects is `unknown`.
 */
const answerTimeout = 5_000;

const driver = "cinder.csi.openstack.org";

const volumesSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      spec: z.looseObject({
        csi: z.looseObject({ driver: z.string(), volumeHandle: z.string() }).optional(),
        claimRef: z.looseObject({ namespace: z.string(), name: z.string() }).optional(),
        persistentVolumeReclaimPolicy: z.string().optional(),
      }),
    }),
  ),
});

const snapshotsSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      spec: z.looseObject({
        driver: z.string(),
        deletionPolicy: z.string(),
        volumeSnapshotRef: z.looseObject({ namespace: z.string(), name: z.string() }),
        source: z.looseObject({ volumeHandle: z.string().optional() }).optional(),
      }),
      status: z.looseObject({ snapshotHandle: z.string().optional() }).optional(),
    }),
  ),
});

const servicesSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({
        namespace: z.string(),
        name: z.string(),
        annotations: z.record(z.string(), z.string()).optional(),
      }),
      spec: z.looseObject({ type: z.string().optional() }),
      status: z
        .looseObject({
          loadBalancer: z
            .looseObject({
              ingress: z.array(z.looseObject({ ip: z.string().optional() })).nullish(),
            })
            .optional(),
        })
        .optional(),
    }),
  ),
});

/** PersistentVolumeClaim of a volume, and what a destroy does with the volume. */
type ClaimAndFate = Pick<ClaimedVolume, "claim" | "fate">;

/** Service of type LoadBalancer, and what a destroy does with its floating IP. */
interface LoadBalancedService {
  /** Namespace and name of the Service, as `<namespace>/<name>`. */
  readonly service: string;
  /** Addresses in the status of the Service. Empty: the status has none. */
  readonly addresses: readonly string[];
  readonly fate: "goes" | "stays";
}

/** Volumes, Services and snapshots that one cluster's API returned. */
interface ClusterAnswer {
  /** Volumes by their ID in Cinder. */
  readonly claims: ReadonlyMap<string, ClaimAndFate>;
  readonly services: readonly LoadBalancedService[];
  readonly snapshots: readonly VolumeSnapshot[];
}

/** Volumes, Services and snapshots that the APIs of all clusters of a stack returned. */
export interface RetentionPolicies extends ClusterAnswer {
  /** Fate of objects that no cluster's API returned. */
  readonly otherwise: "stays" | "unknown";
  /** Reason why a cluster did not answer. Absent: all clusters answered. */
  readonly problem?: string;
}

/**
 * Returns the claim and the fate of each PersistentVolume in Cinder, by the volume's ID in Cinder.
 * A destroy deletes a volume only if the reclaim policy is `Delete`
 * (components/kubeadm/scripts/steps/release-cluster-objects.sh).
 */
function claimsIn(answer: unknown): ClusterAnswer["claims"] {
  const { items } = volumesSchema.parse(answer);
  return new Map(
    items.flatMap(({ spec: { csi, claimRef, persistentVolumeReclaimPolicy: policy } }) => {
      if (csi?.driver !== driver) return [];
      const claim = claimRef ? `${claimRef.namespace}/${claimRef.name}` : "";
      const claimed: ClaimAndFate = { claim, fate: policy === "Delete" ? "goes" : "stays" };
      return [[csi.volumeHandle, claimed] as const];
    }),
  );
}

/**
 * Returns the snapshots of Cinder's CSI driver. A destroy deletes a snapshot only if its deletion
 * policy is `Delete`, and if the cluster has the script that deletes snapshots.
 *
 * @param released whether the cluster has this script
 * (components/kubeadm/scripts/steps/release-snapshots.sh)
 */
function snapshotsIn(answer: unknown, released: boolean): ClusterAnswer["snapshots"] {
  // A cluster without the CRDs of snapshots answers 404, for which `get` returns undefined.
  if (answer === undefined) return [];
  return snapshotsSchema
    .parse(answer)
    .items.filter(({ spec }) => spec.driver === driver)
    .map(({ spec: { volumeSnapshotRef: of, source, deletionPolicy: policy }, status }) => ({
      id: status?.snapshotHandle ?? "",
      snapshot: `${of.namespace}/${of.name}`,
      volume: source?.volumeHandle ?? "",
      fate: released && policy === "Delete" ? "goes" : "stays",
    }));
}

/**
 * Returns whether the state contains the script that deletes the snapshots of a cluster.
 * `component` is the name of the cluster's component.
 */
const releasesSnapshots = ({ deployment }: StateExport, component: string): boolean =>
  (deployment.resources ?? []).some(({ urn }) => {
    const { type, name } = parseUrn(urn);
    const script = `${component}-${controlPlaneComponentName}-snapshots-teardown`;
    return type === "command:remote:Command" && name === script;
  });

/**
 * Annotation of a Service. With the value "true", the cloud controller keeps the floating IP when
 * the Service is deleted.
 */
const keepAnnotation = "loadbalancer.openstack.org/keep-floatingip";

const servicesIn = (answer: unknown): ClusterAnswer["services"] =>
  servicesSchema
    .parse(answer)
    .items.filter(({ spec }) => spec.type === "LoadBalancer")
    .map(({ metadata: { namespace, name, annotations }, status }) => ({
      service: `${namespace}/${name}`,
      addresses: (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []),
      fate: annotations?.[keepAnnotation] === "true" ? "stays" : "goes",
    }));

async function askCluster(kubeconfig: string, released: boolean): Promise<ClusterAnswer> {
  const api = new KubernetesApi(readKubeAccess(kubeconfig), answerTimeout);
  const [volumes, services, snapshots] = await Promise.all([
    api.get("/api/v1/persistentvolumes"),
    api.get("/api/v1/services"),
    api.get("/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents"),
  ]);
  return {
    claims: claimsIn(volumes),
    services: servicesIn(services),
    snapshots: snapshotsIn(snapshots, released),
  };
}

/**
 * Returns the Service of a floating IP that a cloud controller created, and what a destroy does
 * with the floating IP. The fate is `otherwise` if the Service is unknown. If several Services
 * share the address, the floating IP is deleted unless all of these Services keep it.
 */
export function findFloatingIpService(
  { id, name: address, description }: CloudObject,
  { services, otherwise }: Pick<RetentionPolicies, "services" | "otherwise">,
): ServiceFloatingIp {
  const creatingService = / service (\S+) from cluster /.exec(description)?.[1];
  const mine = services.filter(({ service, addresses }) =>
    addresses.length > 0 ? addresses.includes(address) : service === creatingService,
  );
  const { service = "", fate = otherwise } =
    mine.find((one) => one.fate === "goes") ?? mine[0] ?? {};
  return { id, address, service, fate };
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns the answer of each cluster, or the reason why the cluster did not answer. */
async function askAll(
  run: StackOperation,
  state: StateExport,
): Promise<(ClusterAnswer | string)[]> {
  const clusters = await readClustersInState(run.access);
  const whose = (name: string): string => (clusters.length > 1 ? `${name}: ` : "");
  return Promise.all(
    clusters.map(({ name, kubeconfig }) =>
      askCluster(kubeconfig, releasesSnapshots(state, name)).catch(
        (error: unknown) => whose(name) + reasonOf(error),
      ),
    ),
  );
}

/**
 * Policies of a destroy that does not use the clusters' APIs. Such a destroy keeps all volumes,
 * floating IPs and snapshots of the controllers, because no controller deletes these objects.
 */
export const policiesWithoutApi: RetentionPolicies = {
  claims: new Map(),
  services: [],
  snapshots: [],
  otherwise: "stays",
};

/** Asks the API of each cluster of the stack which objects a destroy would delete. */
export async function readRetentionPolicies(
  run: StackOperation,
  state: StateExport,
): Promise<RetentionPolicies> {
  const answers = await askAll(run, state).catch((error: unknown) => [reasonOf(error)]);
  const problems = answers.flatMap((answer) => (typeof answer === "string" ? [answer] : []));
  const known = answers.flatMap((answer) => (typeof answer === "string" ? [] : [answer]));
  return {
    claims: new Map(known.flatMap(({ claims }) => [...claims])),
    services: known.flatMap(({ services }) => services),
    snapshots: known.flatMap(({ snapshots }) => snapshots),
    otherwise: problems.length === 0 ? "stays" : "unknown",
    ...(problems.length > 0 && { problem: problems.join("; ") }),
  };
}
