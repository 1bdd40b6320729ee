import type { ObjectClient } from "../client/object-client.js";
import { getValueAt, getListAt, getNumberAt, getTextAt } from "../objects/json.js";
import { getPodSelector } from "../objects/normalize.js";
import {
  findCondition,
  getDisplayName,
  isOwnedBy,
  getNamespace,
} from "../objects/object-fields.js";
import { createInfoMessage, createWarningMessage } from "./readiness.js";
import type { ReadinessCheck, ReadinessResult } from "./readiness.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/** Returns the reasons why a container does not run, in the words of the kubelet. */
function containerProblem(container: JsonObject): string[] {
  if (container["ready"] === true) return [];
  const problems: string[] = [];
  const waiting = getValueAt(container, "state", "waiting");
  if (isObject(waiting) && waiting["reason"] !== "ContainerCreating") {
    problems.push(`[${getTextAt(waiting, "reason")}] ${getTextAt(waiting, "message")}`);
  }
  const ended = getValueAt(container, "state", "terminated");
  if (isObject(ended) && getTextAt(ended, "reason")) {
    const message = getTextAt(ended, "message");
    problems.push(
      message
        ? `[${getTextAt(ended, "reason")}] ${message}`
        : `container "${getTextAt(container, "name")}" completed with exit code ${getNumberAt(ended, "exitCode") ?? 0}`,
    );
  }
  const last = getValueAt(container, "lastState", "terminated");
  if (isObject(last)) {
    const code = getNumberAt(last, "exitCode") ?? 0;
    problems.push(
      `container "${getTextAt(container, "name")}" terminated at ${getTextAt(last, "finishedAt")} ` +
        `(${getTextAt(last, "reason")}: exit code ${code})`,
    );
  }
  return problems;
}

type Step = "scheduled" | "initialized" | "ready";
const conditions: readonly [Step, string][] = [
  ["scheduled", "PodScheduled"],
  ["initialized", "Initialized"],
  ["ready", "Ready"],
];

interface PodState {
  /** First step that the pod has not completed. Undefined when the pod is ready. */
  readonly pending?: Step;
  readonly problem?: string;
}

function podState(pod: JsonObject): PodState {
  const succeeded = getTextAt(pod, "status", "phase") === "Succeeded";
  for (const [step, type] of conditions) {
    const condition = findCondition(pod, type);
    if (condition === undefined) return { pending: step };
    if (condition.status === "True" || (succeeded && step === "ready")) continue;
    const said = condition.reason ? condition.message : "";
    if (step === "scheduled") return { pending: step, problem: said || undefined };
    const containers = getListAt(pod, "status", "containerStatuses").filter(isObject);
    const text = said + containers.flatMap(containerProblem).join("\n");
    return { pending: step, problem: text ? `[Pod ${getDisplayName(pod)}]: ${text}` : undefined };
  }
  return {};
}

/**
 * Returns a sentence for each problem of a workload's pods. Ignores pods that are not scheduled
 * yet.
 */
export function listPodProblems(pods: readonly JsonObject[]): string[] {
  return pods
    .map(podState)
    .filter((state) => state.pending !== "scheduled")
    .flatMap((state) => state.problem ?? []);
}

/** Returns the pods that `owner` owns. `owner` is the workload or its ReplicaSet. */
export async function listOwnedPods(
  cluster: ObjectClient,
  workload: JsonObject,
  owner: JsonObject,
): Promise<JsonObject[]> {
  const kind = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: getNamespace(workload) },
  };
  const pods = await cluster.list(kind, getPodSelector(workload));
  return pods.filter((pod) => isOwnedBy(pod, owner));
}

export const createPodReadiness =
  (): ReadinessCheck =>
  (pod: JsonObject): ReadinessResult => {
    const { pending, problem } = podState(pod);
    if (pending === undefined) return { ready: true, messages: [], problems: [] };
    const steps: Record<Step, string> = {
      scheduled: "be scheduled",
      initialized: "be initialized",
      ready: "be ready",
    };
    const waiting = createInfoMessage(
      `Waiting for Pod "${getDisplayName(pod)}" to ${steps[pending]}`,
    );
    return {
      ready: false,
      messages: problem ? [waiting, createWarningMessage(problem)] : [waiting],
      problems: problem ? [problem] : [],
    };
  };
