import { waitUntilReady } from "../await/wait.js";
import { createUniqueName } from "./check.js";
import { parseCheckpoint, renderCheckpoint } from "./checkpoint.js";
import { isConflict, isForbidden } from "../client/client.js";
import type { ApiError } from "../client/client.js";
import { getObjectWaitOptions } from "./create.js";
import { parsePath } from "./diff.js";
import { NoMatchError } from "../client/discovery.js";
import { PartialError, NotReadyError } from "../errors.js";
import { keepIgnored, createTakeOverPatch } from "./field-managers.js";
import { getListAt, setAt, getTextAt } from "../objects/json.js";
import { getGvk, isCrd } from "../objects/kinds.js";
import { normalize } from "../objects/normalize.js";
import {
  getAnnotation,
  pulumiAnnotations,
  getApiVersion,
  formatId,
  isAnnotationTrue,
} from "../objects/object-fields.js";
import type { ProviderSession } from "../session.js";
import { toKubernetesObject } from "../objects/wire.js";
import { hasUnknown } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

export interface UpdateInput {
  readonly urn: string;
  readonly olds: JsonObject;
  readonly news: JsonObject;
  readonly ignoreChanges: readonly string[];
  readonly timeout: number;
  readonly preview: boolean;
}

/**
 * Applies new inputs to an existing object, and waits until the object is ready again. Returns the
 * new state.
 */
export async function updateResource(
  session: ProviderSession,
  input: UpdateInput,
): Promise<JsonObject> {
  const { urn, preview } = input;
  const inputs = normalize(toKubernetesObject(input.news));
  if (preview && (hasUnknown(inputs) || !(await session.canTry(getGvk(inputs))))) {
    return input.news;
  }
  const old = parseCheckpoint(input.olds);
  const fieldManager =
    getAnnotation(inputs, pulumiAnnotations.fieldManager) ||
    old.fieldManager ||
    createUniqueName("pulumi-kubernetes-");
  const initialApiVersion = old.initialApiVersion || getApiVersion(old.inputs);
  const checkpoint = (live: JsonObject) =>
    renderCheckpoint({ inputs, live, initialApiVersion, fieldManager }, input.news);
  const log = session.logFor(urn);
  try {
    const before = await session.cluster.get(old.live);
    const written = await writeUpdate(session, { ...input, inputs, before, fieldManager });
    if (preview) return checkpoint(written);
    const live = await waitUntilReady(getObjectWaitOptions(session, log, input), inputs, written);
    log.clear();
    return checkpoint(live);
  } catch (error) {
    if (preview && isForbidden(error)) return input.news;
    throw await explain(session, error, { urn, live: old.live, checkpoint });
  }
}

interface Update extends UpdateInput {
  readonly inputs: JsonObject;
  readonly before: JsonObject;
  readonly fieldManager: string;
}

async function writeUpdate(session: ProviderSession, update: Update): Promise<JsonObject> {
  const { inputs, before, fieldManager, preview } = update;
  if (isCrd(inputs)) {
    // Replaces the whole CustomResourceDefinition, because lists in a schema cannot be merged
    // reliably. The API server keeps the custom resources.
    const whole = structuredClone(inputs);
    const version = getTextAt(before, "metadata", "resourceVersion");
    setAt(whole, ["metadata", "resourceVersion"], version);
    return session.cluster.replace(whole, { fieldManager, dryRun: preview });
  }
  const patch = createTakeOverPatch(before, fieldManager);
  const live = patch && !preview ? await session.cluster.jsonPatch(before, patch) : before;
  const sent = withoutIgnored(update, live);
  const force =
    session.settings.patchForce ||
    isAnnotationTrue(inputs, pulumiAnnotations.patchForce) ||
    (preview && patch !== undefined) ||
    getListAt(live, "metadata", "managedFields").length === 0;
  try {
    return await session.cluster.applyObject(sent, { fieldManager, dryRun: preview, force });
  } catch (error) {
    throw isConflict(error) ? conflict(fieldManager, error) : error;
  }
}

function withoutIgnored(update: Update, live: JsonObject): JsonObject {
  const sent = structuredClone(update.inputs);
  for (const path of update.ignoreChanges.map(parsePath)) {
    const keys = path.filter((step) => typeof step === "string");
    if (keys.length === path.length) keepIgnored(sent, live, keys, update.fieldManager);
  }
  return sent;
}

const conflict = (fieldManager: string, error: ApiError): Error =>
  new Error(
    "server-side apply field conflict detected, see https://www.pulumi.com/registry/packages/kubernetes/" +
      "how-to-guides/managing-resources-with-server-side-apply/#handle-field-conflicts-on-existing-resources " +
      `for troubleshooting help\nThe resource managed by field manager "${fieldManager}" had an apply conflict: ` +
      error.message,
  );

/**
 * Returns the error of a failed update. The object still exists, so the engine saves its state with
 * the new inputs and the reason. The next run tries the update again.
 */
async function explain(
  session: ProviderSession,
  error: unknown,
  resource: { urn: string; live: JsonObject; checkpoint: (live: JsonObject) => JsonObject },
): Promise<Error> {
  const { urn, checkpoint } = resource;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NoMatchError) {
    return new Error(
      `update of resource "${urn}" failed because the Kubernetes API server reported that the apiVersion for ` +
        `this resource does not exist. Verify that any required CRDs have been created: ${message}`,
    );
  }
  if (session.unreachable !== undefined) return error instanceof Error ? error : new Error(message);
  let live: JsonObject;
  try {
    live = error instanceof NotReadyError ? error.live : await session.cluster.get(resource.live);
  } catch (readError) {
    const why = readError instanceof Error ? readError.message : String(readError);
    return new Error(
      `update of resource "${urn}" failed: ${message}\nunable to get cluster state: ${why}`,
    );
  }
  return new PartialError(
    `the Kubernetes API server reported that "${formatId(live)}" failed to fully initialize or become live: ${message}`,
    live,
    checkpoint(live),
    { problems: error instanceof NotReadyError ? error.problems : [] },
  );
}
