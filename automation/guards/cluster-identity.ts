import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { settingsOf } from "./other-backend.js";
import type { CloudPlace, WhichCluster } from "../engine/operation-options.js";
import { requireClusterStack } from "./cluster-stack.js";
import { requireSameLocation } from "./cloud-location.js";
import type { Run } from "../engine/operation-context.js";
import {
  holdsNothing,
  identitiesOf,
  namesIn,
  readState,
  type StateExport,
} from "../pulumi/stack-state.js";

/** Internal name of a cloud without a name in clouds.yaml. */
const nameless = "OS_AUTH_URL";

export const placeIn = ({
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

/** Returns the clusters that the stack holds or will create, from state, settings and cloud. */
export async function whichCluster(
  run: Run,
  state: StateExport | undefined,
): Promise<WhichCluster> {
  const [{ name }, place] = await Promise.all([
    settingsOf(run),
    // A later request to the cloud reports the error.
    run.cloud().then(placeIn, () => undefined),
  ]);
  return {
    clusters: namesIn(state, name),
    identities: [...identitiesOf(state)],
    held: !holdsNothing(state),
    ...(place && { place }),
  };
}

/**
 * Reads the state at the start of a command, and reports the clusters. Throws if the cluster is in
 * another project or region.
 */
export async function beginWith(run: Run): Promise<StateExport | undefined> {
  const state = await readState(run.access);
  // The package's program would delete resources that it does not describe. A user's own program
  // may add a cluster to its stack.
  if (run.service.program === undefined) requireClusterStack(run, state);
  return checkAndReport(run, state);
}

/**
 * Reads the state for a command that runs no program, like {@link beginWith}. Also throws if the
 * stack has resources, but no stackadm cluster.
 */
export async function beginWithOurs(run: Run): Promise<StateExport | undefined> {
  const state = await readState(run.access);
  requireClusterStack(run, state);
  return checkAndReport(run, state);
}

async function checkAndReport(
  run: Run,
  state: StateExport | undefined,
): Promise<StateExport | undefined> {
  await requireSameLocation(run, state);
  const { onCluster } = run.options;
  if (onCluster) onCluster(await whichCluster(run, state));
  return state;
}
