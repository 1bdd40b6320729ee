import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { nameAndProtectionOf } from "./other-backend.js";
import type { CloudPlace, WhichCluster } from "../engine/operation-options.js";
import { requireClusterStack } from "./cluster-stack.js";
import { requireSameLocation } from "./cloud-location.js";
import type { StackOperation } from "../engine/operation-context.js";
import {
  isEmptyStack,
  identitiesOf,
  clusterNamesInState,
  readState,
  type StateExport,
} from "../pulumi/stack-state.js";

/** Name that the program gives to a cloud without an entry in clouds.yaml. */
const nameless = "OS_AUTH_URL";

export const locationInState = ({
  name,
  authUrl,
  region,
  projectId: id,
  projectName,
}: CloudClient): CloudPlace => ({
  cloud: name === nameless ? authUrl : name,
  region,
  project: { id, name: projectName },
});

/**
 * Returns the clusters that the stack has or will create. Reads the state, the settings and the
 * cloud.
 */
export async function identifyClusters(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<WhichCluster> {
  const [{ name }, place] = await Promise.all([
    nameAndProtectionOf(run),
    // Ignores an error of the cloud: a later request to the cloud reports it.
    run.cloud().then(locationInState, () => undefined),
  ]);
  return {
    clusters: clusterNamesInState(state, name),
    identities: [...identitiesOf(state)],
    held: !isEmptyStack(state),
    ...(place && { place }),
  };
}

/**
 * Reads the state at the start of a command, and reports the clusters. Throws if the cluster is in
 * another project or region than the environment selects.
 */
export async function readStateAndReportClusters(
  run: StackOperation,
): Promise<StateExport | undefined> {
  const state = await readState(run.access);
  // Checks the stack only for the package's program, which would delete resources that it does not
  // describe. A user's own program may add a cluster to its stack.
  if (run.service.program === undefined) requireClusterStack(run, state);
  return checkAndReport(run, state);
}

/**
 * Reads the state for a command that runs no program. Reports and throws like
 * {@link readStateAndReportClusters}. Also throws if the stack has resources, but no stackadm
 * cluster.
 */
export async function readStateOfClusterStack(
  run: StackOperation,
): Promise<StateExport | undefined> {
  const state = await readState(run.access);
  requireClusterStack(run, state);
  return checkAndReport(run, state);
}

async function checkAndReport(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<StateExport | undefined> {
  await requireSameLocation(run, state);
  const { onCluster } = run.options;
  if (onCluster) onCluster(await identifyClusters(run, state));
  return state;
}
