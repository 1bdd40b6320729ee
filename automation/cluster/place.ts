import { z } from "zod";
import { ClusterError } from "./cluster-error.js";
import type { Run } from "./run.js";
import type { StateExport, StateResource } from "./state.js";

/*
 * Whoever works with another project or region than the cluster is in finds nothing of it there: `up` would make it a second time, and
 * `destroy` would take it out of the state and leave it in the cloud.
 */

/** What the cloud said, when it made a stack's objects, of where they are. */
export interface Place {
  readonly projects: ReadonlySet<string>;
  readonly regions: ReadonlySet<string>;
}

/** What leads a provider elsewhere than the environment does. */
const leads = [
  ...["cloud", "authUrl", "region", "tenantId", "tenantName", "token", "userId", "userName"],
  ...["applicationCredentialId", "applicationCredentialName"],
];

/** A provider that takes the cloud from the environment, as ours does. */
const isOfEnvironment = ({ type, inputs }: StateResource): boolean =>
  type === "pulumi:providers:openstack" && !leads.some((key) => key in (inputs ?? {}));

const answered = z.object({
  tenantId: z.string().min(1).optional().catch(undefined),
  region: z.string().min(1).optional().catch(undefined),
});

/** What the stack made with the environment's cloud. */
export function madeHere(state: StateExport | undefined): StateResource[] {
  const resources = state?.deployment.resources ?? [];
  const providers = resources.filter(isOfEnvironment).map(({ urn }) => `${urn}::`);
  return resources
    .filter(({ provider, external }) => provider !== undefined && external !== true)
    .filter(({ provider = "" }) => providers.some((one) => provider.startsWith(one)));
}

/** Where that is. Pure. */
export function placeOf(state: StateExport | undefined): Place {
  const made = madeHere(state).map(({ outputs }) => answered.parse(outputs ?? {}));
  return {
    projects: new Set(made.flatMap(({ tenantId = [] }) => tenantId)),
    regions: new Set(made.flatMap(({ region = [] }) => region)),
  };
}

/** Refuses a state whose objects are elsewhere than one is signed in to. */
export async function requireHere(run: Run, state: StateExport | undefined): Promise<void> {
  const { projects, regions } = placeOf(state);
  if (projects.size + regions.size === 0) return;
  const { projectId, region } = await run.cloud();
  const places = [
    ["project", projects, projectId],
    ["region", regions, region],
  ] as const;
  const there = places.find(
    ([, places, here]) => places.size > 0 && here !== "" && !places.has(here),
  );
  if (!there) return;
  const [what, known, here] = there;
  throw new ClusterError(
    "WRONG_PROJECT",
    `The cluster of stack '${run.stack}' is in ${what} ${[...known].join(", ")}, and you are signed in to ${what} ${here}. Nothing was changed.`,
  );
}
