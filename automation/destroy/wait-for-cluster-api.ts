import { X509Certificate } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  readServerState,
  isInterventionNeeded,
  getWakeServerCommand,
  type ServerState,
} from "../../openstack/inventory/server-diagnostics.js";
import { controlPlaneComponentName } from "../../components/plan/cluster-plan.js";
import { scriptType } from "../../components/remote-scripts/script-type.js";
import { KubernetesApi, readKubeAccess, type KubeAccess } from "../verify/kubernetes-client.js";
import { createApiDependencyPredicate } from "../pulumi/needs-cluster-api.js";
import { Failure } from "../../base/failures/failure.js";
import { getFailureRow, type FailureCode } from "../../base/failures/failure-codes.js";
import { getScriptMachineName } from "../pulumi/events.js";
import { reportBrokenBalancers } from "../repair/broken-load-balancers.js";
import type { StackOperation } from "../engine/operation-context.js";
import { findClusterProviderUrns, readClustersInState } from "../engine/kubernetes-providers.js";
import type { ProtectionFacts } from "../guards/destroy-protection.js";
import type { OperationStep } from "../steps/step.js";
import type { DestroyStepDescription } from "./destroy-plan.js";
import { readRetentionPolicies } from "./retention-policies.js";
import type { StateExport, StateResource } from "../pulumi/stack-state.js";
import { findApiProblem } from "../verify/find-api-problem.js";

/*
 * A destroy needs the cluster's API. A script on the first control plane uses the API to delete the
 * cluster's load balancers and volumes. The state fixes the script's machine, so the script cannot
 * run on another machine.
 */

const abandonment =
  "`stackadm destroy --abandon` destroys the cluster without its API; it keeps and lists volumes with data and floating IPs of Services.";

/** Returns advice for a cluster whose API cannot come back without a backup. */
const lossAdvice = (lostData: boolean): string =>
  `${lostData ? "Etcd has no data of the cluster." : "Nova says that no control plane has a server any more."} If you have a backup, see docs/operate/restore.md. Otherwise ${abandonment}`;

/** Milliseconds to wait for the API of a cluster before the destroy is refused. */
const waitMilliseconds = 30_000;

/**
 * Returns the time at which a certificate expires, in milliseconds since 1970. Returns NaN if the
 * text is not a certificate.
 */
function endOf(cert: string | Buffer): number {
  try {
    return Date.parse(new X509Certificate(cert).validTo);
  } catch {
    return NaN;
  }
}

/**
 * Returns advice for the user if the API cannot be used. A possible cause is an expired client
 * certificate in the state, because control planes renew only their own certificates.
 */
function adviceFor({ cert }: KubeAccess, code: FailureCode): string {
  const ended = cert === undefined ? NaN : endOf(cert);
  return ended <= Date.now()
    ? `The kubeconfig in the state expired on ${new Date(ended).toISOString().slice(0, 10)}: run \`stackadm up\`, which fetches a new one from a control plane, then run the same command again.`
    : getFailureRow(code).hint;
}

interface ApiChecks {
  /** Returns whether no control plane has a server any more, according to Nova. */
  readonly hasNoControlPlane: () => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

/** Throws if the API of a cluster cannot be used within the time limit. */
async function requireApi(whose: string, kubeconfig: string, checks: ApiChecks): Promise<void> {
  const access = readKubeAccess(kubeconfig);
  const api = new KubernetesApi(access);
  const end = performance.now() + waitMilliseconds;
  for (;;) {
    const complaint = await findApiProblem(api);
    if (complaint === undefined) return;
    if (complaint.final || performance.now() > end) {
      const { code, lostData, text } = complaint;
      const isLost = lostData || (await checks.hasNoControlPlane().catch(() => false));
      throw new Failure(
        code,
        `${whose} cannot be used (${text}), and without it the cluster cannot release its load balancers and volumes. Nothing was changed.`,
        isLost ? lossAdvice(lostData) : adviceFor(access, code),
      );
    }
    await pause(1_000, undefined, { signal: checks.signal });
  }
}

/**
 * Returns the servers on which teardown scripts run: a map from the server's ID to the machine's
 * name.
 */
function teardownServers({ deployment }: StateExport): ReadonlyMap<string, string> {
  const all = deployment.resources ?? [];
  // The leave script (drain) of a machine is left out, because it does not run in a full destroy.
  // The engine deletes the script together with the script's server.
  const runs = ({ type, inputs, deletedWith }: StateResource): boolean =>
    type === scriptType && inputs?.["delete"] !== undefined && !deletedWith;
  const urns = new Set(
    all.filter(runs).flatMap(({ propertyDependencies: of }) => of?.["delete"] ?? []),
  );
  return new Map(
    all.flatMap(({ urn, type, id }) =>
      id !== undefined && urns.has(urn) && type === "openstack:compute/instance:Instance"
        ? [[id, getScriptMachineName(urn, "server")] as const]
        : [],
    ),
  );
}

/** Pattern of the names of control planes. */
const controlPlaneName = new RegExp(`-${controlPlaneComponentName}-\\d+$`);

/** Statuses of a server that does not exist any more. */
const gone = new Set(["DELETED", "SOFT_DELETED"]);

/**
 * Returns whether Nova has no server of any control plane in the state. Returns false if the state
 * has no control plane, because then no answer of Nova proves the loss.
 */
async function hasNoControlPlane(run: StackOperation, state: StateExport): Promise<boolean> {
  const ids = (state.deployment.resources ?? []).flatMap(({ urn, type, id }) => {
    const isServer = id !== undefined && type === "openstack:compute/instance:Instance";
    return isServer && controlPlaneName.test(getScriptMachineName(urn, "server")) ? [id] : [];
  });
  const cloud = await run.cloud();
  const states = await Promise.all(ids.map((id) => readServerState(cloud, id)));
  return states.length > 0 && states.every(({ status }) => gone.has(status));
}

/** Returns advice for a machine with a teardown script that does not run. */
async function machineAdvice(
  run: StackOperation,
  state: StateExport,
  found: ServerState,
): Promise<string> {
  const command = getWakeServerCommand(found);
  if (command !== undefined)
    return `Start it with \`${command}\`, then run the same command again.`;
  if (await hasNoControlPlane(run, state)) return lossAdvice(false);
  const recreate =
    "If another control plane runs, run `stackadm up --refresh`, which recreates this one; then run the same command again.";
  return gone.has(found.status)
    ? recreate
    : `${recreate} Otherwise ask the cloud's operator to repair the server.`;
}

/**
 * Throws if a machine with a teardown script does not run. Without this check, the engine would try
 * to connect for minutes, and fail with a less clear error.
 */
async function requireMachines(run: StackOperation, state: StateExport): Promise<void> {
  for (const [id, machine] of teardownServers(state)) {
    const found = await readServerState(await run.cloud(), id);
    if (!isInterventionNeeded(found)) continue;
    throw new Failure(
      "SERVER_STOPPED",
      `The machine ${machine}, on which the cluster releases its load balancers and volumes, does not run: Nova says ${found.status}. Nothing was changed.`,
      await machineAdvice(run, state, found),
    );
  }
}

/**
 * Returns the state if the deletion of any resource needs the API of one of the clusters. Otherwise
 * returns undefined.
 */
const stateWithApi = ({ state }: ProtectionFacts): StateExport | undefined =>
  state?.deployment.resources?.some(
    createApiDependencyPredicate(findClusterProviderUrns(state)),
  ) === true
    ? state
    : undefined;

/**
 * Waits until the API of each cluster answers. Throws if an API does not answer, or if the machine
 * of a teardown script does not run.
 */
export const waitForClusterApi: OperationStep<
  ProtectionFacts,
  DestroyStepDescription,
  StateExport
> = {
  title: "Wait for the cluster's API",
  detect: stateWithApi,
  describe: async ({ run }, state) => ({ policies: await readRetentionPolicies(run, state) }),
  apply: async (facts, state) => {
    const { run } = facts;
    const [clusters] = await Promise.all([
      readClustersInState(run.access),
      requireMachines(run, state),
    ]);
    try {
      for (const { name, kubeconfig } of clusters) {
        const whose =
          clusters.length > 1 ? `The API of the cluster '${name}'` : "The cluster's API";
        await requireApi(whose, kubeconfig, {
          hasNoControlPlane: () => hasNoControlPlane(run, state),
          signal: run.options.signal,
        });
      }
    } catch (error) {
      // The cause may be a broken load balancer in front of the API, so the broken load balancers
      // are reported.
      await reportBrokenBalancers(facts);
      throw error;
    }
  },
};
