import { X509Certificate } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  readServerState,
  isInterventionNeeded,
  getWakeServerCommand,
} from "../../openstack/inventory/server-diagnostics.js";
import { scriptType } from "../../components/remote-scripts/script-type.js";
import { KubernetesApi, readKubeAccess, type KubeAccess } from "../verify/kubernetes-client.js";
import { createApiDependencyPredicate } from "../pulumi/needs-cluster-api.js";
import { Failure } from "../../base/failures/failure.js";
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
function adviceFor({ cert }: KubeAccess): string {
  const ended = cert === undefined ? NaN : endOf(cert);
  return ended <= Date.now()
    ? `The kubeconfig in the state expired on ${new Date(ended).toISOString().slice(0, 10)}: run \`stackadm up\`, which fetches a new one from a control plane, then run the same command again.`
    : "Check that a control plane runs (`stackadm status`) and that your address is in allowedCidrs, then run the same command again.";
}

async function requireApi(whose: string, kubeconfig: string, signal?: AbortSignal): Promise<void> {
  const access = readKubeAccess(kubeconfig);
  const api = new KubernetesApi(access);
  const end = Date.now() + waitMilliseconds;
  for (;;) {
    const complaint = await findApiProblem(api);
    if (complaint === undefined) return;
    if (complaint.final || Date.now() > end)
      throw new Failure(
        "KUBERNETES_UNREACHABLE",
        `${whose} cannot be used (${complaint.text}), and without it the cluster cannot release its load balancers and volumes. Nothing was changed.`,
        `${adviceFor(access)} If the API is lost: ${abandonment}`,
      );
    await pause(1_000, undefined, { signal });
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

/**
 * Throws if a machine with a teardown script does not run. Without this check, the engine would try
 * to connect for minutes, and fail with a less clear error.
 */
async function requireMachines(run: StackOperation, state: StateExport): Promise<void> {
  for (const [id, machine] of teardownServers(state)) {
    const found = await readServerState(await run.cloud(), id);
    if (!isInterventionNeeded(found)) continue;
    const command = getWakeServerCommand(found);
    throw new Failure(
      "SERVER_STOPPED",
      `The machine ${machine}, on which the cluster releases its load balancers and volumes, does not run: Nova says ${found.status}. Nothing was changed.`,
      command === undefined
        ? `If another control plane is left, run \`stackadm up --refresh\`, which recreates this one; then run the same command again. Otherwise ${abandonment}`
        : `Start it with \`${command}\`, then run the same command again. If it cannot start: ${abandonment}`,
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
        await requireApi(whose, kubeconfig, run.options.signal);
      }
    } catch (error) {
      // The cause may be a broken load balancer in front of the API, so the broken load balancers
      // are reported.
      await reportBrokenBalancers(facts);
      throw error;
    }
  },
};
