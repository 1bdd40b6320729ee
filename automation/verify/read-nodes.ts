import { z } from "zod";
import {
  listNodeRoles,
  poolLabel,
  roleTable,
  type MachineRole,
} from "../../components/config/roles.js";
import type { KubernetesApi } from "./kubernetes-client.js";

/**
 * Next kubeadm certificate that a control plane must renew. The machine's renew-certificates.sh
 * (components/kubeadm/scripts/programs) writes this information into an annotation of the node.
 */
export interface CertificateToRenew {
  /** Path of the file below /etc/kubernetes on the machine. */
  readonly file: string;
  /**
   * Time by which the machine should have renewed the certificate, for example
   * 2026-01-31T00:00:00Z.
   */
  readonly by: string;
  readonly end: string;
}

/** Node in the answer of the Kubernetes API. */
export interface NodeReport {
  readonly name: string;
  readonly role: string;
  readonly version: string;
  readonly internalAddress: string;
  readonly externalAddress: string;
  readonly zone: string;
  /** Provider ID: `openstack:///<server UUID>`. Empty until the cloud controller has set the ID. */
  readonly providerId: string;
  readonly ready: boolean;
  /** Reason why the node is not ready. Empty for a ready node. */
  readonly reason: string;
  /**
   * Certificate to renew next. Absent for workers, and for control planes that have not reported a
   * certificate yet.
   */
  readonly certificate?: CertificateToRenew;
}

const listSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({
        name: z.string(),
        labels: z.record(z.string(), z.string()).default({}),
        annotations: z.record(z.string(), z.string()).default({}),
      }),
      spec: z.looseObject({
        providerID: z.string().default(""),
        taints: z.array(z.looseObject({ key: z.string() })).optional(),
      }),
      status: z.looseObject({
        nodeInfo: z.looseObject({ kubeletVersion: z.string() }),
        addresses: z.array(z.object({ type: z.string(), address: z.string() })).default([]),
        conditions: z
          .array(
            z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() }),
          )
          .default([]),
      }),
    }),
  ),
});

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string | undefined;
}

/** Returns the reason why pods cannot use the node, or undefined for a usable node. */
function complaintOf(conditions: readonly Condition[]): string | undefined {
  const findCondition = (wanted: string) => conditions.find(({ type }) => type === wanted);
  const [ready, network] = [findCondition("Ready"), findCondition("NetworkUnavailable")];
  if (ready?.status !== "True") return ready?.message ?? "no Ready condition";
  // NetworkUnavailable tells whether the cloud has routes to the node's pods. The condition is
  // absent or False with a pod network that needs no such routes.
  if (network?.status !== "True") return undefined;
  return network.message ?? "the cloud has no route to its pods";
}

function nextCertificate(annotation = ""): Pick<NodeReport, "certificate"> {
  const moment = String.raw`(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)`;
  const [, by, end, file] = new RegExp(`^${moment} ${moment} ([a-z./-]+)$`).exec(annotation) ?? [];
  return by === undefined || end === undefined || file === undefined
    ? {}
    : { certificate: { file, by, end } };
}

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";

type Labels = Readonly<Record<string, string>>;

/** Returns the role of a node from its labels. A node without the label of a role is a worker. */
const roleOf = (labels: Labels): MachineRole =>
  listNodeRoles().find((role) => (roleTable[role].label ?? "") in labels) ?? "worker";

/** Returns the name of the role for users. A node of a pool has the name of the pool. */
function nameOf(role: MachineRole, labels: Labels): string {
  const { label, title } = roleTable[role];
  return (label === poolLabel ? labels[poolLabel] : undefined) ?? title.replace("-", " ");
}

/** Returns the cluster's nodes in the order of their roles, control planes first. */
export async function readNodes(api: KubernetesApi): Promise<NodeReport[]> {
  const { items } = listSchema.parse(await api.get("/api/v1/nodes"));
  const nodes = items.map(({ metadata, spec, status }) => {
    const address = (type: string): string =>
      status.addresses.find((entry) => entry.type === type)?.address ?? "";
    const waiting = spec.taints?.some(({ key }) => key === uninitialized) === true;
    const reason = waiting
      ? "the cloud controller manager has not initialized it"
      : complaintOf(status.conditions);
    const role = roleOf(metadata.labels);
    const report: NodeReport = {
      name: metadata.name,
      role: nameOf(role, metadata.labels),
      version: status.nodeInfo.kubeletVersion,
      internalAddress: address("InternalIP"),
      externalAddress: address("ExternalIP"),
      zone: metadata.labels["topology.kubernetes.io/zone"] ?? "",
      providerId: spec.providerID,
      ready: reason === undefined,
      reason: reason ?? "",
      // Only control planes have these certificates. Annotations of other nodes are ignored.
      ...(roleTable[role].grant === "certificates" &&
        nextCertificate(metadata.annotations["stackadm.io/certificates"])),
    };
    return { rank: listNodeRoles().indexOf(role), report };
  });
  return nodes
    .sort((a, b) => a.rank - b.rank || a.report.name.localeCompare(b.report.name))
    .map(({ report }) => report);
}
