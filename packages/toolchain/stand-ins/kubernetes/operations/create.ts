import { pause, waitUntilReady } from "../await/wait.js";
import { createUniqueName } from "./check.js";
import { renderCheckpoint } from "./checkpoint.js";
import { ApiError, isAlreadyExists, isForbidden, isNotFound } from "../client/client.js";
import { NoMatchError } from "../client/discovery.js";
import { NotReadyError, PartialError } from "../errors.js";
import { creatingManager } from "./field-managers.js";
import { omitKeys } from "../objects/json.js";
import { formatApiVersion, getGvk, parseGvkFromUrn } from "../objects/kinds.js";
import type { ResourceLog } from "../engine-messages.js";
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

export interface CreateInput {
  readonly urn: string;
  /** Inputs that the gRPC method Check has completed. */
  readonly properties: JsonObject;
  /** Time limit in seconds. 0 if it is not set. */
  readonly timeout: number;
  readonly preview: boolean;
}

export interface CreateResult {
  /** ID of the object. Empty in a preview. */
  readonly id: string;
  readonly properties: JsonObject;
}

/**
 * Reports whether the error says that the object's namespace does not exist. In this case, a
 * preview continues without the server's answer. An update waits until the namespace exists.
 */
const isNamespaceMissing = (error: unknown): boolean =>
  isNotFound(error) && error.kind === "namespaces";

/**
 * Creates an object and waits until it is ready. In a preview, only requests the result from the
 * server by a dry run.
 */
export async function createResource(
  session: ProviderSession,
  input: CreateInput,
): Promise<CreateResult> {
  const { urn, properties, preview } = input;
  const asIs: CreateResult = { id: "", properties };
  const inputs = toKubernetesObject(properties);
  if (preview && (hasUnknown(inputs) || !(await session.canTry(getGvk(inputs))))) return asIs;
  const log = session.logFor(urn);
  const fieldManager =
    getAnnotation(inputs, pulumiAnnotations.fieldManager) || createUniqueName("pulumi-kubernetes-");
  const checkpoint = (live: JsonObject) =>
    renderCheckpoint(
      { inputs, live, initialApiVersion: getApiVersion(inputs), fieldManager },
      properties,
    );
  try {
    const written = await write(session, { inputs, fieldManager, preview, log });
    log.clear();
    if (preview) {
      // Leaves out the status, because programs would use the status of the dry run as the real
      // status.
      return { id: "", properties: checkpoint(omitKeys(written, "status")) };
    }
    const live = await waitUntilReady(getObjectWaitOptions(session, log, input), inputs, written);
    log.clear();
    return { id: formatId(live), properties: checkpoint(live) };
  } catch (error) {
    if (preview && isNoAnswerToPreview(error)) return asIs;
    if (error instanceof NotReadyError) {
      throw new PartialError(
        `resource "${urn}" was successfully created, but the Kubernetes API server ` +
          `reported that it failed to fully initialize or become live: ${error.message}`,
        error.live,
        checkpoint(error.live),
        { problems: error.problems },
      );
    }
    throw explain(error, urn);
  }
}

export const getObjectWaitOptions = (
  session: ProviderSession,
  log: ResourceLog,
  input: { readonly timeout: number },
) => ({
  cluster: session.cluster,
  log,
  signal: session.signal,
  timeout: input.timeout,
  settle: session.timing.settle,
});

/**
 * Reports whether the error only means that the server cannot answer a preview. The object may
 * still be correct.
 */
const isNoAnswerToPreview = (error: unknown): boolean =>
  isForbidden(error) ||
  isAlreadyExists(error) ||
  isNamespaceMissing(error) ||
  (error instanceof ApiError && error.code === 400 && error.message.includes("dry run"));

const existsHelp = `

The resource already exists in the cluster. This can happen when:

  - Renaming a Pulumi resource: use an alias to preserve the identity,
    or use deleteBeforeReplace if the resource needs replacement.
  - Managing an existing resource: use a Patch resource (e.g. NamespacePatch)
    to manage specific fields without owning the resource lifecycle.
  - Adopting a resource into Pulumi: use \`pulumi import\`. Note that
    protected resources (e.g. kube-system) cannot be deleted on destroy.
  - Intentional upsert: set upsertExistingObjects on the provider to allow
    server-side apply to update existing objects on create.`;

function explain(error: unknown, urn: string): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NoMatchError) {
    const gvk = parseGvkFromUrn(urn);
    return new Error(
      `creation of resource "${urn}" with kind ${formatApiVersion(gvk)}/${gvk.kind} failed because the ` +
        "Kubernetes API server reported that the apiVersion for this resource does not exist. " +
        `Verify that any required CRDs have been created: ${message}`,
    );
  }
  if (!(error instanceof ApiError)) return error instanceof Error ? error : new Error(message);
  return new Error(
    `resource "${urn}" was not successfully created by the Kubernetes API server: ${message}` +
      (isAlreadyExists(error) ? existsHelp : ""),
  );
}

interface Write {
  readonly inputs: JsonObject;
  readonly fieldManager: string;
  readonly preview: boolean;
  readonly log: ResourceLog;
}

/**
 * Number of retries of a create, which take half a minute in total. The kind or the namespace may
 * not exist yet.
 */
const retries = 5;

async function write(session: ProviderSession, what: Write): Promise<JsonObject> {
  for (let i = 0; ; i++) {
    try {
      return await writeOnce(session, what);
    } catch (error) {
      const coming = isNotFound(error) || error instanceof NoMatchError;
      if (what.preview && isNamespaceMissing(error)) throw error;
      if (error instanceof Error && !session.signal.aborted) {
        what.log.status("info", `Retry #${i}; creation failed: ${error.message}`);
      }
      if (!coming || i >= retries || !(await pause(session.timing.retry * 2 ** i, session.signal)))
        throw error;
    }
  }
}

function writeOnce(session: ProviderSession, what: Write): Promise<JsonObject> {
  const { inputs, fieldManager, preview } = what;
  if (!session.settings.upsert) {
    // Uses a plain create and no server-side apply, so that an existing object is never changed.
    return session.cluster.create(inputs, { fieldManager: creatingManager, dryRun: preview });
  }
  const force =
    preview ||
    session.settings.patchForce ||
    isAnnotationTrue(inputs, pulumiAnnotations.patchForce);
  return session.cluster.applyObject(inputs, { fieldManager, dryRun: preview, force });
}
