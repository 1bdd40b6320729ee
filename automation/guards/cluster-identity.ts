import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { nameAndProtectionOf } from "./other-backend.js";
import type { CloudPlace, WhichCluster } from "../engine/operation-options.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { Facts } from "../steps/step.js";
import {
  isEmptyStack,
  identitiesOf,
  clusterNamesInState,
  readState,
  type StateExport,
} from "../pulumi/stack-state.js";

/** Internal name of a cloud without a name in clouds.yaml. */
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

/** Returns the clusters that the stack holds or will create, from state, settings and cloud. */
export async function identifyClusters(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<WhichCluster> {
  const [{ name }, place] = await Promise.all([
    nameAndProtectionOf(run),
    // A later request to the cloud reports the error.
    run.cloud().then(locationInState, () => undefined),
  ]);
  return {
    clusters: clusterNamesInState(state, name),
    identities: [...identitiesOf(state)],
    held: !isEmptyStack(state),
    ...(place && { place }),
  };
}

/** Reads the state. */
export async function readStackState(facts: Facts): Promise<void> {
  facts.state = await readState(facts.run.access);
  facts.initial = facts.state;
}

/** Reports the clusters of the stack to the caller. */
export async function reportCluster({ run, state }: Facts): Promise<void> {
  if (run.reportsCluster) run.reportCluster(await identifyClusters(run, state));
}
