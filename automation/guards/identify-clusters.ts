import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { readProtectionSettings } from "./other-backend.js";
import { readStateHere } from "./stack-elsewhere.js";
import type { CloudPlace, WhichCluster } from "../engine/operation-options.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { OperationFacts } from "../steps/step.js";
import {
  isEmptyStack,
  findClusterIdentities,
  findClusterNames,
  type StateExport,
} from "../pulumi/stack-state.js";

/** Name that the program gives to a cloud without an entry in clouds.yaml. */
const nameless = "OS_AUTH_URL";

export const getCloudPlace = ({
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
 * Returns the clusters that the stack has or will create, from state, settings and cloud.
 *
 * @param cloud client that knows the location. If undefined, the result has no location
 */
export async function identifyClusters(
  run: StackOperation,
  state: StateExport | undefined,
  cloud: Promise<CloudClient> | undefined,
): Promise<WhichCluster> {
  const [{ name }, place] = await Promise.all([
    readProtectionSettings(run),
    // A later request to the cloud reports the error.
    cloud?.then(getCloudPlace, () => undefined),
  ]);
  return {
    clusters: findClusterNames(state, name),
    identities: [...findClusterIdentities(state)],
    held: !isEmptyStack(state),
    ...(place && { place }),
  };
}

/**
 * Starts the sign-in to the cloud while the state is read. The first use of the cloud client
 * reports a failed sign-in.
 */
export function startSignIn({ run }: OperationFacts): void {
  run.cloud().catch(() => undefined);
}

/**
 * Reads the stack's state. Throws if the backend does not have the stack, but another backend of the
 * user has it.
 */
export async function readStackState(facts: OperationFacts): Promise<void> {
  facts.state = await readStateHere(facts.run);
  facts.initial = facts.state;
}

/** Reports the clusters of the stack. Does not sign in to the cloud only for their location. */
export async function reportCluster({ run, state }: OperationFacts): Promise<void> {
  run.emit({ type: "cluster", ...(await identifyClusters(run, state, run.cloudInUse)) });
}
