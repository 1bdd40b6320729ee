import { getMachines, type ClusterOutputs } from "../verify/cluster-outputs.js";
import type { Verification } from "../verify/verify-cluster.js";
import { findCloudProblems, listComparedObjects } from "./cloud-problems.js";
import { findCertificateWarnings } from "./certificate-expiry.js";
import { Failure } from "../../base/failures/failure.js";
import { findCredentialWarnings } from "./credential-expiry.js";
import type { StatusResult } from "../engine/operation-options.js";
import { verifyFromOutside } from "./cluster-health.js";
import { findSharedHostWarnings } from "./shared-hosts.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { StateExport } from "../pulumi/stack-state.js";
import { identifyClusters } from "../guards/identify-clusters.js";

/**
 * Time limit of each check in milliseconds. The status command must also end if the cluster does
 * not answer.
 */
const checkTimeout = 5_000;

/**
 * Returns the machines with their status in Nova, the problems of the cluster's objects in the
 * cloud, and warnings about shared hosts and about kinds of objects that the cloud did not list.
 */
async function readCloudStatus(
  run: StackOperation,
  state: StateExport,
  outputs: ClusterOutputs,
): Promise<Pick<StatusResult, "machines" | "warnings" | "cloudProblems">> {
  const { objects, unknown, warnings } = await listComparedObjects(await run.cloud(), state);
  const servers = objects.filter(({ kind }) => kind === "server");
  const machines = getMachines(outputs).map(({ name, role, zone, serverId }) => ({
    name,
    role,
    zone,
    server: servers.find(({ id }) => id === serverId)?.status ?? "GONE",
  }));
  return {
    machines,
    cloudProblems: findCloudProblems(state, outputs, objects, unknown),
    warnings: [...warnings, ...findSharedHostWarnings(outputs, servers)],
  };
}

/**
 * Returns warnings about the credential's expiry. Treats invalid settings as empty settings,
 * because the status command must work in any case. The settings of a custom program may not
 * describe the cluster.
 */
async function warningsOf(run: StackOperation, state: StateExport): Promise<string[]> {
  const { credential } = (await run.spec().catch(() => undefined)) ?? {};
  const supplied = credential?.id === undefined ? undefined : credential.expiresAt;
  return findCredentialWarnings(state, { stack: run.stack, supplied });
}

/**
 * Returns the machines from the cloud, and the nodes and samples from Kubernetes. If the API does
 * not answer, the result contains the error.
 */
export async function readClusterStatus(
  run: StackOperation,
  state: StateExport,
  outputs: ClusterOutputs,
): Promise<StatusResult> {
  const [cluster, { machines, cloudProblems, warnings: ofCloud }] = await Promise.all([
    identifyClusters(run, state, run.cloud()),
    readCloudStatus(run, state, outputs),
  ]);
  const others = [...(await warningsOf(run, state)), ...ofCloud];
  const warnings = ({ nodes }: Pick<Verification, "nodes">): string[] => [
    ...others,
    ...findCertificateWarnings({ ...outputs, nodes }, run),
  ];
  const seen = { cluster, machines, cloudProblems };
  try {
    const verification = await verifyFromOutside(run, { outputs, state, checkTimeout });
    return { ...seen, warnings: warnings(verification), verification };
  } catch (problem) {
    const stopped = run.options.signal?.aborted === true;
    if (!stopped && problem instanceof Failure)
      return { ...seen, warnings: warnings({ nodes: [] }), problem };
    throw problem;
  }
}
