import { listObjects } from "../../cloud/inventory.js";
import { machinesOf, type ClusterOutputs } from "../verify/outputs.js";
import type { Verification } from "../verify/verify.js";
import { certificateWarnings } from "./certificate-end.js";
import { ClusterError } from "./cluster-error.js";
import { credentialWarnings } from "./credential-end.js";
import type { MachineStatus, StatusResult } from "./options.js";
import { look } from "./proof.js";
import { sharedHostWarnings } from "./shared-hosts.js";
import type { Run } from "./run.js";
import type { StateExport } from "./state.js";
import { whichCluster } from "./which-cluster.js";

/** How long a look may take when something does not answer, in milliseconds. */
const patience = 5_000;

/** Machines as the cloud has them, and what is to be said of where they are. */
async function serversOf(
  run: Run,
  outputs: ClusterOutputs,
): Promise<{ readonly machines: MachineStatus[]; readonly warnings: readonly string[] }> {
  const servers = await listObjects(await run.cloud(), "server");
  const machines = machinesOf(outputs).map(({ name, role, zone, serverId }) => ({
    name,
    role,
    zone,
    server: servers.find(({ id }) => id === serverId)?.status ?? "GONE",
  }));
  return { machines, warnings: sharedHostWarnings(outputs, servers) };
}

/** The settings of a program of one's own say nothing of it, and wrong ones keep nobody from looking. */
async function warningsOf(run: Run, state: StateExport): Promise<string[]> {
  const { credential } = (await run.spec().catch(() => undefined)) ?? {};
  const supplied = credential?.id === undefined ? undefined : credential.expiresAt;
  return credentialWarnings(state, { stack: run.stack, supplied });
}

/** Machines as the cloud, nodes and samples as Kubernetes sees them. An API that does not answer is a finding, too. */
export async function lookAt(
  run: Run,
  state: StateExport,
  outputs: ClusterOutputs,
): Promise<StatusResult> {
  const [cluster, { machines, warnings: sharing }] = await Promise.all([
    whichCluster(run, state),
    serversOf(run, outputs),
  ]);
  const others = [...(await warningsOf(run, state)), ...sharing];
  const warnings = ({ nodes }: Pick<Verification, "nodes">): string[] => [
    ...others,
    ...certificateWarnings({ ...outputs, nodes }, run),
  ];
  const seen = { cluster, machines };
  try {
    const verification = await look(run, outputs, patience);
    return { ...seen, warnings: warnings(verification), verification };
  } catch (problem) {
    const stopped = run.options.signal?.aborted === true;
    if (!stopped && problem instanceof ClusterError)
      return { ...seen, warnings: warnings({ nodes: [] }), problem };
    throw problem;
  }
}
