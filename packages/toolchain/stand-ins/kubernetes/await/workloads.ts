import type { ObjectClient } from "../client/object-client.js";
import { getMapAt, getNumberAt, getTextAt } from "../objects/json.js";
import { listMountedClaims, getPodSelector } from "../objects/normalize.js";
import {
  getAnnotation,
  findCondition,
  getDisplayName,
  isObserved,
  isOwnedBy,
  getNamespace,
} from "../objects/object-fields.js";
import { isNotFound } from "../client/client.js";
import { listPodProblems, listOwnedPods } from "./pods.js";
import { createInfoMessage, createWarningMessage } from "./readiness.js";
import type { ReadinessCheck, ReadinessContext, ReadinessResult } from "./readiness.js";
import type { JsonObject } from "../../plugin/values.js";

const revision = "deployment.kubernetes.io/revision";
const notYet = (text: string): ReadinessResult => ({
  ready: false,
  messages: [createInfoMessage(text)],
  problems: [text],
});

/**
 * Waits until all pods of the newest ReplicaSet are ready and the Deployment reports that it is
 * available.
 */
export function createDeploymentReadiness({ cluster }: ReadinessContext): ReadinessCheck {
  return async (live) => {
    if (!isObserved(live)) return notYet("Waiting for the Deployment controller");
    const set = await replicaSetOf(cluster, live, getAnnotation(live, revision));
    const rollout = rolloutOf(live, set);
    const claims = await unboundClaims(cluster, live);
    if (rollout.problem === undefined && claims.length === 0) {
      return {
        ready: true,
        messages: [createInfoMessage("Deployment initialization complete")],
        problems: [],
      };
    }
    const pods = set ? listPodProblems(await listOwnedPods(cluster, live, set)) : [];
    return {
      ready: false,
      messages: [
        ...[...rollout.conditions, ...pods].map(createWarningMessage),
        createInfoMessage(rollout.doing),
      ],
      problems: [
        ...rollout.conditions,
        ...claims.map((claim) => `Failed to bind PersistentVolumeClaim(s): "${claim}"`),
        ...(rollout.problem === undefined ? [] : [rollout.problem]),
        ...pods,
      ],
    };
  };
}

interface Rollout {
  /** Reason why the rollout is not complete. Undefined when it is complete. */
  readonly problem?: string;
  /** Conditions that are not met, in the controller's words. */
  readonly conditions: readonly string[];
  readonly doing: string;
}

function rolloutOf(live: JsonObject, set: JsonObject | undefined): Rollout {
  const wanted = getNumberAt(set, "spec", "replicas") ?? 1;
  const readyPods = getNumberAt(set, "status", "readyReplicas") ?? 0;
  const available = findCondition(live, "Available");
  const progressing = findCondition(live, "Progressing");
  // The first ReplicaSet replaces no other ReplicaSet, so no condition reports its progress.
  const first = getAnnotation(live, revision) === "1";
  const replaced =
    progressing?.status === "True" && progressing.reason === "NewReplicaSetAvailable";
  const steps: readonly [boolean, string][] = [
    [available?.status === "True", "Minimum number of live Pods was not attained"],
    [first || replaced, "Minimum number of Pods to consider the application live was not attained"],
    [
      set !== undefined && readyPods >= wanted,
      "Attempted to roll forward to new ReplicaSet, but minimum number of Pods did not become live",
    ],
  ];
  return {
    problem: steps.find(([done]) => !done)?.[1],
    conditions: [progressing, available].flatMap((condition) =>
      condition && condition.status !== "True" && condition.reason
        ? [`[${condition.reason}] ${condition.message}`]
        : [],
    ),
    doing: `Waiting for app ReplicaSet to be available (${readyPods}/${wanted} Pods available)`,
  };
}

async function replicaSetOf(
  cluster: ObjectClient,
  deployment: JsonObject,
  current: string,
): Promise<JsonObject | undefined> {
  const kind = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { namespace: getNamespace(deployment) },
  };
  const sets = await cluster.list(kind, getPodSelector(deployment));
  return sets.find((set) => isOwnedBy(set, deployment) && getAnnotation(set, revision) === current);
}

async function unboundClaims(cluster: ObjectClient, workload: JsonObject): Promise<string[]> {
  const unbound: string[] = [];
  for (const name of listMountedClaims(workload)) {
    const metadata = { name, namespace: getNamespace(workload) };
    const claim = await cluster
      .get({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (claim && getTextAt(claim, "status", "phase") !== "Bound") unbound.push(name);
  }
  return unbound;
}

/** Waits until every node that needs a pod has a ready pod of the newest revision. */
export function createDaemonSetReadiness(context: ReadinessContext): ReadinessCheck {
  return async (live) => {
    const state = daemonSetState(live);
    if (state.ready)
      return { ready: true, messages: [createInfoMessage(state.text)], problems: [] };
    const pods = listPodProblems(await listOwnedPods(context.cluster, live, live));
    return {
      ready: false,
      messages: [createInfoMessage(state.text), ...pods.map(createWarningMessage)],
      problems: [state.text, ...pods],
    };
  };
}

/**
 * Returns the state of a DaemonSet, with the steps and messages of kubectl's status library
 * (kstatus).
 */
function daemonSetState(live: JsonObject): { ready: boolean; text: string } {
  const status = getMapAt(live, "status");
  const count = (name: string) => getNumberAt(status, name) ?? 0;
  if (getNumberAt(status, "observedGeneration") === undefined) {
    return { ready: false, text: "DaemonSet status.observedGeneration not found" };
  }
  if (!isObserved(live)) {
    const generation = getNumberAt(live, "metadata", "generation") ?? 0;
    const text = `DaemonSet generation is ${generation}, but latest observed generation is ${count("observedGeneration")}`;
    return { ready: false, text };
  }
  const desired = getNumberAt(status, "desiredNumberScheduled");
  if (desired === undefined) {
    return { ready: false, text: "DaemonSet .status.desiredNumberScheduled not found" };
  }
  const steps: readonly [string, string][] = [
    ["currentNumberScheduled", "Current"],
    ["updatedNumberScheduled", "Updated"],
    ["numberAvailable", "Available"],
    ["numberReady", "Ready"],
  ];
  for (const [name, title] of steps) {
    const onDelete = getTextAt(live, "spec", "updateStrategy", "type") === "OnDelete";
    if (onDelete && title === "Updated") continue;
    if (count(name) < desired) {
      return { ready: false, text: `${title}: ${count(name)}/${desired}` };
    }
  }
  return { ready: true, text: `All replicas scheduled as expected. Replicas: ${desired}` };
}

/** Waits until all pods are ready and belong to the newest revision. */
export function createStatefulSetReadiness({ cluster }: ReadinessContext): ReadinessCheck {
  return async (live) => {
    const state = statefulSetState(live);
    if (state.problems.length === 0) {
      return {
        ready: true,
        messages: [createInfoMessage("StatefulSet initialization complete")],
        problems: [],
      };
    }
    const pods = listPodProblems(await listOwnedPods(cluster, live, live));
    return {
      ready: false,
      messages: [createInfoMessage(state.doing), ...pods.map(createWarningMessage)],
      problems: [...state.problems, ...pods],
    };
  };
}

function statefulSetState(live: JsonObject): { problems: string[]; doing: string } {
  const status = getMapAt(live, "status");
  const count = (name: string) => getNumberAt(status, name) ?? 0;
  const wanted = getNumberAt(live, "spec", "replicas") ?? 1;
  const first = (getNumberAt(live, "metadata", "generation") ?? 1) <= 1;
  // With the strategy OnDelete, the user replaces pods manually, so the current revision does not
  // change.
  const byHand = !first && getTextAt(live, "spec", "updateStrategy", "type") === "OnDelete";
  const [current, target] = [
    getTextAt(status, "currentRevision"),
    getTextAt(status, "updateRevision"),
  ];
  const counted = ["replicas", "readyReplicas", ...(byHand ? [] : ["currentReplicas"])];
  const observed = isObserved(live);
  const allReady = observed && counted.every((name) => count(name) === wanted);
  const revised = observed && (byHand || (current !== "" && current === target));
  const ready = revised
    ? count("readyReplicas")
    : Math.min(count("readyReplicas"), count("updatedReplicas"));
  const problems = [
    ...(allReady ? [] : [`${ready} out of ${wanted} replicas succeeded readiness checks`]),
    ...(revised ? [] : [notAdvanced(current, target)]),
  ];
  return {
    problems,
    doing: statefulSetStep({ first, allReady, pods: `(${ready}/${wanted} Pods ready)` }),
  };
}

const notAdvanced = (from: string, to: string): string =>
  `StatefulSet controller failed to advance from revision "${from}" to revision "${to}"`;

function statefulSetStep(state: { first: boolean; allReady: boolean; pods: string }): string {
  if (state.first) return `[1/2] Waiting for StatefulSet to create Pods ${state.pods}`;
  return state.allReady
    ? "[2/3] Waiting for StatefulSet to update .status.currentRevision"
    : `[1/3] Waiting for StatefulSet update to roll out ${state.pods}`;
}

/** Waits until the Job has succeeded. A failed Job ends the wait at once. */
export function createJobReadiness(context: ReadinessContext): ReadinessCheck {
  return async (live) => {
    const name = getDisplayName(live);
    const status = getMapAt(live, "status");
    if (!getTextAt(status, "startTime")) return notYet(`Waiting for Job "${name}" to start`);
    const count = (key: string) => getNumberAt(status, key) ?? 0;
    const waiting = createInfoMessage(
      `Waiting for Job "${name}" to succeed (Active: ${count("active")} | ` +
        `Succeeded: ${count("succeeded")} | Failed: ${count("failed")})`,
    );
    if (findCondition(live, "Complete")?.status === "True") {
      return { ready: true, messages: [waiting], problems: [] };
    }
    const pods = listPodProblems(await listOwnedPods(context.cluster, live, live));
    const failure = findCondition(live, "Failed");
    if (failure?.status === "True") {
      const problems = [`[${failure.reason}] ${failure.message}`, ...pods];
      return { ready: false, failed: true, messages: [waiting], problems };
    }
    return { ready: false, messages: [waiting, ...pods.map(createWarningMessage)], problems: pods };
  };
}
