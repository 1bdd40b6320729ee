import type { ObjectClient } from "../client/object-client.js";
import { at, listAt, numberAt, textAt } from "../objects/json.js";
import { selectorOf } from "../objects/normalize.js";
import { conditionOf, displayName, isOwnedBy, namespaceOf } from "../objects/object-fields.js";
import { info, warning } from "./readiness.js";
import type { ReadinessCheck, Verdict } from "./readiness.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/** Returns the reason why a container does not run, in the kubelet's words. */
function containerProblem(container: JsonObject): string[] {
  if (container["ready"] === true) return [];
  const problems: string[] = [];
  const waiting = at(container, "state", "waiting");
  if (isObject(waiting) && waiting["reason"] !== "ContainerCreating") {
    problems.push(`[${textAt(waiting, "reason")}] ${textAt(waiting, "message")}`);
  }
  const ended = at(container, "state", "terminated");
  if (isObject(ended) && textAt(ended, "reason")) {
    const message = textAt(ended, "message");
    problems.push(
      message
        ? `[${textAt(ended, "reason")}] ${message}`
        : `container "${textAt(container, "name")}" completed with exit code ${numberAt(ended, "exitCode") ?? 0}`,
    );
  }
  const last = at(container, "lastState", "terminated");
  if (isObject(last)) {
    const code = numberAt(last, "exitCode") ?? 0;
    problems.push(
      `container "${textAt(container, "name")}" terminated at ${textAt(last, "finishedAt")} ` +
        `(${textAt(last, "reason")}: exit code ${code})`,
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
  const succeeded = textAt(pod, "status", "phase") === "Succeeded";
  for (const [step, type] of conditions) {
    const condition = conditionOf(pod, type);
    if (condition === undefined) return { pending: step };
    if (condition.status === "True" || (succeeded && step === "ready")) continue;
    const said = condition.reason ? condition.message : "";
    if (step === "scheduled") return { pending: step, problem: said || undefined };
    const containers = listAt(pod, "status", "containerStatuses").filter(isObject);
    const text = said + containers.flatMap(containerProblem).join("\n");
    return { pending: step, problem: text ? `[Pod ${displayName(pod)}]: ${text}` : undefined };
  }
  return {};
}

/** Returns a sentence for each scheduled pod of a workload that does not become ready. */
export function podProblems(pods: readonly JsonObject[]): string[] {
  return pods
    .map(podState)
    .filter((state) => state.pending !== "scheduled")
    .flatMap((state) => state.problem ?? []);
}

/** Returns the pods that `owner` owns: the workload or its ReplicaSet. */
export async function podsOf(
  cluster: ObjectClient,
  workload: JsonObject,
  owner: JsonObject,
): Promise<JsonObject[]> {
  const kind = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: namespaceOf(workload) },
  };
  const pods = await cluster.list(kind, selectorOf(workload));
  return pods.filter((pod) => isOwnedBy(pod, owner));
}

export const podReadiness =
  (): ReadinessCheck =>
  (pod: JsonObject): Verdict => {
    const { pending, problem } = podState(pod);
    if (pending === undefined) return { ready: true, messages: [], problems: [] };
    const steps: Record<Step, string> = {
      scheduled: "be scheduled",
      initialized: "be initialized",
      ready: "be ready",
    };
    const waiting = info(`Waiting for Pod "${displayName(pod)}" to ${steps[pending]}`);
    return {
      ready: false,
      messages: problem ? [waiting, warning(problem)] : [waiting],
      problems: problem ? [problem] : [],
    };
  };
