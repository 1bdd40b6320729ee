import { listObjects } from "../../cloud/inventory.js";
import { machinesOf, type ClusterOutputs } from "../verify/outputs.js";
import { ClusterError } from "./cluster-error.js";
import type { MachineStatus, StatusResult } from "./options.js";
import { look } from "./proof.js";
import type { Run } from "./run.js";
import type { StateExport } from "./state.js";
import { whichCluster } from "./which-cluster.js";

/** How long a look may take when something does not answer, in milliseconds. */
const patience = 5_000;

async function serversOf(run: Run, outputs: ClusterOutputs): Promise<MachineStatus[]> {
  const servers = await listObjects(await run.cloud(), "server");
  return machinesOf(outputs).map(({ name, role, zone, serverId }) => ({
    name,
    role,
    zone,
    server: servers.find(({ id }) => id === serverId)?.status ?? "GONE",
  }));
}

/** Machines as the cloud, nodes and samples as Kubernetes sees them. An API that does not answer is a finding, too. */
export async function lookAt(
  run: Run,
  state: StateExport,
  outputs: ClusterOutputs,
): Promise<StatusResult> {
  const [cluster, machines] = await Promise.all([
    whichCluster(run, state),
    serversOf(run, outputs),
  ]);
  const seen = { cluster, machines };
  try {
    return { ...seen, verification: await look(run, outputs, patience) };
  } catch (problem) {
    const stopped = run.options.signal?.aborted === true;
    if (!stopped && problem instanceof ClusterError) return { ...seen, problem };
    throw problem;
  }
}
