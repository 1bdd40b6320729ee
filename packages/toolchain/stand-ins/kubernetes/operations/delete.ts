import { waitUntilGone } from "../await/wait.js";
import { parseCheckpoint, renderCheckpoint } from "./checkpoint.js";
import { isNotFound } from "../client/client.js";
import { getObjectWaitOptions } from "./create.js";
import { NoMatchError } from "../client/discovery.js";
import { NotReadyError, PartialError } from "../errors.js";
import { setAt } from "../objects/json.js";
import {
  getAnnotation,
  pulumiAnnotations,
  isAnnotationTrue,
  getKind,
  parseId,
} from "../objects/object-fields.js";
import type { ProviderSession } from "../session.js";
import type { JsonObject } from "../../plugin/values.js";

export interface DeleteInput {
  readonly urn: string;
  readonly id: string;
  readonly properties: JsonObject;
  /** Time limit in seconds. 0 if it is not set. */
  readonly timeout: number;
}

/**
 * Kinds whose deletion does not wait if pulumi.com/skipAwait is set, as in the official provider.
 */
const skippable = new Set([
  "Namespace",
  "Pod",
  "ReplicationController",
  "DaemonSet",
  "Deployment",
  "StatefulSet",
  "Job",
]);

const propagation = new Map([
  ["orphan", "Orphan"],
  ["background", "Background"],
]);

/**
 * Deletes an object and the objects that it owns, and waits until the object does not exist. A
 * missing object is not an error.
 */
export async function deleteResource(session: ProviderSession, input: DeleteInput): Promise<void> {
  const log = session.logFor(input.urn);
  if (session.unreachable !== undefined) {
    log.keep("warning", `configured Kubernetes cluster is unreachable: ${session.unreachable}`);
    if (session.settings.deleteUnreachable) return;
    throw new Error(
      "configured Kubernetes cluster is unreachable. If the cluster was deleted, you can remove this resource from " +
        "Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE environment variable " +
        'set to "true"',
    );
  }
  const state = parseCheckpoint(input.properties);
  const { inputs, live } = state;
  setAt(live, ["metadata", "name"], parseId(input.id).name);
  const policy = getAnnotation(inputs, pulumiAnnotations.deletionPropagation).toLowerCase();
  try {
    await session.cluster.delete(live, propagation.get(policy) ?? "Foreground");
  } catch (error) {
    if (isNotFound(error) || error instanceof NoMatchError) return;
    throw error;
  }
  if (isAnnotationTrue(inputs, pulumiAnnotations.skipAwait) && skippable.has(getKind(live))) return;
  try {
    await waitUntilGone(getObjectWaitOptions(session, log, input), inputs, live);
    log.clear();
  } catch (error) {
    if (error instanceof NoMatchError) return;
    if (!(error instanceof NotReadyError)) throw error;
    const rest = renderCheckpoint({ ...state, live: error.live }, input.properties);
    throw new PartialError(error.message, error.live, rest, { problems: error.problems });
  }
}
