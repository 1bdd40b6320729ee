import { setTimeout as delay } from "node:timers/promises";
import { isNotFound, UnreachableError } from "../client/client.js";
import type { ObjectClient } from "../client/object-client.js";
import {
  createCancelledError,
  createInitFailedError,
  NotReadyError,
  createTimedOutError,
} from "../errors.js";
import { getListAt, getTextAt } from "../objects/json.js";
import { formatApiVersion, getGvk } from "../objects/kinds.js";
import type { ResourceLog } from "../engine-messages.js";
import {
  getAnnotation,
  pulumiAnnotations,
  isAnnotationTrue,
  getKind,
  getName,
  getUid,
} from "../objects/object-fields.js";
import {
  createClaimReadiness,
  createCrdReadiness,
  createIngressReadiness,
  createNamespaceReadiness,
  createServiceReadiness,
  createVolumeReadiness,
} from "./network-and-storage.js";
import { createPodReadiness } from "./pods.js";
import type { ReadinessCheck, CreateReadinessCheck, ReadinessResult } from "./readiness.js";
import { parseWaitForReadiness } from "./wait-for.js";
import {
  createDaemonSetReadiness,
  createDeploymentReadiness,
  createJobReadiness,
  createStatefulSetReadiness,
} from "./workloads.js";
import type { JsonObject } from "../../plugin/values.js";

/** Readiness checks of the kinds that are not ready as soon as they exist. */
export const readinessChecksByKind: Readonly<Record<string, CreateReadinessCheck>> = {
  "apps/v1/DaemonSet": createDaemonSetReadiness,
  "apps/v1/Deployment": createDeploymentReadiness,
  "apps/v1/StatefulSet": createStatefulSetReadiness,
  "batch/v1/Job": createJobReadiness,
  "v1/Namespace": createNamespaceReadiness,
  "v1/PersistentVolume": createVolumeReadiness,
  "v1/PersistentVolumeClaim": createClaimReadiness,
  "v1/Pod": createPodReadiness,
  "v1/Service": createServiceReadiness,
  "networking.k8s.io/v1/Ingress": createIngressReadiness,
  "apiextensions.k8s.io/v1/CustomResourceDefinition": createCrdReadiness,
};

/** Kinds for which a refresh reports objects that are not ready. */
const readAwaited = new Set(["DaemonSet", "Deployment", "StatefulSet", "Job", "Pod", "Service"]);

const readinessOf = (object: JsonObject): CreateReadinessCheck | undefined =>
  readinessChecksByKind[`${formatApiVersion(getGvk(object))}/${getKind(object)}`];

export interface ObjectWaitOptions {
  readonly cluster: ObjectClient;
  readonly log: ResourceLog;
  /** Signal that is aborted when the engine cancels. An abort ends the wait at once. */
  readonly signal: AbortSignal;
  /** Time limit in seconds from customTimeouts. 0 if it is not set. */
  readonly timeout: number;
  /** Time in milliseconds after which unchanged endpoints count as stable. */
  readonly settle: number;
}

/**
 * Returns the time limit in seconds: customTimeouts if set, otherwise the annotation
 * pulumi.com/timeoutSeconds if set, otherwise 10 minutes.
 */
export function getTimeoutSeconds(seconds: number, inputs: JsonObject): number {
  if (seconds > 0) return seconds;
  const annotated = Number(getAnnotation(inputs, pulumiAnnotations.timeoutSeconds));
  return annotated > 0 ? annotated : 600;
}

/** Returns the time before the next check in milliseconds. It grows from 100 to 1000. */
const interval = (look: number): number => Math.min(100 * 1.5 ** look, 1000);

/** Waits for this time. Returns `false` if the signal ended the pause. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await delay(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the readiness check for a written object. Returns undefined if the object is ready as
 * soon as it exists, or if an annotation disables the wait.
 */
function lookFor(
  waiting: ObjectWaitOptions,
  inputs: JsonObject,
  written: JsonObject,
): ReadinessCheck | undefined {
  const look = parseWaitForReadiness(written) ?? readinessOf(written)?.(waiting);
  if (look === undefined || !isAnnotationTrue(inputs, pulumiAnnotations.skipAwait)) return look;
  waiting.log.status("info", "Skipping await logic");
  return undefined;
}

/**
 * Waits until a written object is ready, and returns the object's current state. Throws a
 * NotReadyError with the last known state if the time limit is reached, the engine cancels, or the
 * object cannot become ready.
 */
export async function waitUntilReady(
  waiting: ObjectWaitOptions,
  inputs: JsonObject,
  written: JsonObject,
): Promise<JsonObject> {
  const look = lookFor(waiting, inputs, written);
  if (look === undefined) return written;
  const deadline = Date.now() + getTimeoutSeconds(waiting.timeout, inputs) * 1000;
  let live = written;
  let problems: readonly string[] = [];
  for (let i = 0; ; i++) {
    try {
      if (i > 0) live = await waiting.cluster.get(written);
      const verdict = await look(live);
      show(waiting.log, verdict);
      if (verdict.ready) return live;
      problems = verdict.problems;
      if (verdict.failed) throw createInitFailedError(live, problems);
    } catch (error) {
      throwUnlessPassing(error, { live, problems, signal: waiting.signal });
    }
    const rest = deadline - Date.now();
    if (rest <= 0) throw createTimedOutError(live, problems);
    if (!(await pause(Math.min(interval(i), rest), waiting.signal))) {
      throw createCancelledError(live, problems);
    }
  }
}

/**
 * Ignores the errors of an API server that restarts or that does not find the object for a moment.
 * The time limit ends the wait in these cases. Throws all other errors.
 */
function throwUnlessPassing(
  error: unknown,
  seen: { live: JsonObject; problems: readonly string[]; signal: AbortSignal },
): void {
  if (error instanceof UnreachableError || isNotFound(error) || seen.signal.aborted) return;
  if (error instanceof NotReadyError) throw error;
  const message = error instanceof Error ? error.message : String(error);
  throw new NotReadyError(message, seen.live, seen.problems);
}

/** Checks once, for a refresh. Throws a NotReadyError if the object is not ready. */
export async function requireReady(
  cluster: ObjectClient,
  log: ResourceLog,
  inputs: JsonObject,
  live: JsonObject,
): Promise<void> {
  const create = readAwaited.has(getKind(live)) ? readinessOf(live) : undefined;
  if (create === undefined || isAnnotationTrue(inputs, pulumiAnnotations.skipAwait)) return;
  const verdict = await create({ cluster, settle: 0 })(live);
  show(log, verdict);
  if (!verdict.ready) throw createInitFailedError(live, verdict.problems);
  log.clear();
}

function show(log: ResourceLog, verdict: ReadinessResult): void {
  for (const message of verdict.messages) log.status(message.severity, message.text);
}

/**
 * Waits until a deleted object no longer exists. Finalizers, and other objects that the deleted
 * object owns, can delay its removal.
 */
export async function waitUntilGone(
  waiting: ObjectWaitOptions,
  inputs: JsonObject,
  object: JsonObject,
): Promise<void> {
  const deadline = Date.now() + getTimeoutSeconds(waiting.timeout, inputs) * 1000;
  let live = object;
  for (let i = 0; ; i++) {
    const found = await lookAgain(waiting, object);
    // An object with another UID is a new object with the same name.
    if (found === "gone" || (found && getUid(object) && getUid(found) !== getUid(object))) return;
    if (found) {
      live = found;
      if (getTextAt(live, "metadata", "deletionTimestamp")) {
        waiting.log.status("info", "Resource scheduled for deletion");
      }
    }
    const rest = deadline - Date.now();
    const going = rest > 0 && (await pause(Math.min(interval(i), rest), waiting.signal));
    if (!going) {
      const finalizers = getListAt(live, "metadata", "finalizers")
        .filter((finalizer) => typeof finalizer === "string")
        .join(", ");
      waiting.log.keep("warning", `finalizers might be preventing deletion (${finalizers})`);
      throw waiting.signal.aborted ? createCancelledError(live, []) : timedOutDeleting(live);
    }
  }
}

const timedOutDeleting = (live: JsonObject) => {
  const error = createTimedOutError(live, []);
  error.message = `timed out waiting for the condition: '${getName(live)}' is still there`;
  return error;
};

async function lookAgain(
  waiting: ObjectWaitOptions,
  object: JsonObject,
): Promise<JsonObject | "gone" | undefined> {
  try {
    return await waiting.cluster.get(object);
  } catch (error) {
    if (isNotFound(error)) return "gone";
    if (error instanceof UnreachableError || waiting.signal.aborted) return undefined;
    throw error;
  }
}
