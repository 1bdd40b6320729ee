import type { CloudClient } from "../../cloud/client.js";
import { settingsOf } from "./elsewhere.js";
import type { CloudPlace, WhichCluster } from "./options.js";
import { requireOurs } from "./ours.js";
import { requireHere } from "./place.js";
import type { Run } from "./run.js";
import { holdsNothing, identitiesOf, namesIn, readState, type StateExport } from "./state.js";

/** How a cloud without a name in clouds.yaml is called inside. */
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

/** Whose cluster the stack holds, or is to hold, as far as state, settings and cloud say. */
export async function whichCluster(
  run: Run,
  state: StateExport | undefined,
): Promise<WhichCluster> {
  const [{ name }, place] = await Promise.all([
    settingsOf(run),
    // Whoever needs the cloud hears why it cannot be asked.
    run.cloud().then(placeIn, () => undefined),
  ]);
  return {
    clusters: namesIn(state, name),
    identities: [...identitiesOf(state)],
    held: !holdsNothing(state),
    ...(place && { place }),
  };
}

/** The stack's state, for a command about it: refused where the cluster is elsewhere; whoever listens hears whose it is. */
export async function beginWith(run: Run): Promise<StateExport | undefined> {
  const state = await readState(run.access);
  // It would take away what it does not describe; a program of one's own may add a cluster to what its stack holds.
  if (run.service.program === undefined) requireOurs(run, state);
  return introduce(run, state);
}

/** The same for a command that runs no program: refused, too, where the stack is not one of clusters. */
export async function beginWithOurs(run: Run): Promise<StateExport | undefined> {
  const state = await readState(run.access);
  requireOurs(run, state);
  return introduce(run, state);
}

async function introduce(
  run: Run,
  state: StateExport | undefined,
): Promise<StateExport | undefined> {
  await requireHere(run, state);
  const { onCluster } = run.options;
  if (onCluster) onCluster(await whichCluster(run, state));
  return state;
}
