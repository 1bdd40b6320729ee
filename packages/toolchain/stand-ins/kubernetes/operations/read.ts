import { requireReady } from "../await/wait.js";
import { createUniqueName } from "./check.js";
import { parseCheckpoint, renderCheckpoint } from "./checkpoint.js";
import { isNotFound } from "../client/client.js";
import { NoMatchError } from "../client/discovery.js";
import { NotReadyError, PartialError } from "../errors.js";
import { removeAt, setAt, omitKeys } from "../objects/json.js";
import { formatApiVersion, parseGvkFromUrn } from "../objects/kinds.js";
import { normalize, pruneToShape } from "../objects/normalize.js";
import {
  getAnnotation,
  pulumiAnnotations,
  getApiVersion,
  formatId,
  getKind,
  getName,
  parseId,
} from "../objects/object-fields.js";
import type { ProviderSession } from "../session.js";
import { annotateSecrets, toKubernetesObject } from "../objects/wire.js";
import type { JsonObject } from "../../plugin/values.js";

export interface ReadInput {
  readonly urn: string;
  readonly id: string;
  /** State of the resource. Empty for an import or a `.get()`. */
  readonly properties: JsonObject;
  readonly inputs: JsonObject;
}

export interface ReadResult {
  readonly id: string;
  readonly properties: JsonObject;
  readonly inputs: JsonObject;
}

const unreachableHelp =
  "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the " +
  'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"';

/** Reads the current object. Returns `undefined` if the object does not exist. */
export async function readResource(
  session: ProviderSession,
  input: ReadInput,
): Promise<ReadResult | undefined> {
  const log = session.logFor(input.urn);
  if (session.unreachable !== undefined) {
    const why = `configured Kubernetes cluster is unreachable: ${session.unreachable}`;
    log.keep("warning", why);
    if (session.settings.deleteUnreachable) return undefined;
    throw new Error(`failed to read resource state due to unreachable cluster. ${unreachableHelp}`);
  }
  const state = parseCheckpoint(input.properties);
  const { asked, imported } = whatToRead(input, state.live);
  let live: JsonObject;
  try {
    live = await session.cluster.get(asked);
  } catch (error) {
    if (isNotFound(error) || error instanceof NoMatchError) return undefined;
    throw error;
  }
  const liveInputs = imported ? importedInputs(live) : pruneToShape(live, asked);
  const checkpoint = {
    inputs: liveInputs,
    live,
    initialApiVersion: state.initialApiVersion || getApiVersion(asked),
    fieldManager:
      getAnnotation(asked, pulumiAnnotations.fieldManager) ||
      state.fieldManager ||
      createUniqueName("pulumi-kubernetes-"),
  };
  const inputs = structuredClone(liveInputs);
  annotateSecrets(inputs, input.inputs);
  const result = {
    id: input.id || formatId(live),
    properties: renderCheckpoint(checkpoint, input.inputs),
    inputs,
  };
  if (!imported) await reportUnready(session, { input, asked, live, result });
  return result;
}

function whatToRead(input: ReadInput, live: JsonObject): { asked: JsonObject; imported: boolean } {
  const asked = normalize(toKubernetesObject(input.inputs));
  if (getApiVersion(asked) && getKind(asked)) return { asked, imported: false };
  const imported = !getApiVersion(live) || !getKind(live);
  const gvk = parseGvkFromUrn(input.urn);
  asked["apiVersion"] = imported ? formatApiVersion(gvk) : getApiVersion(live);
  asked["kind"] = imported ? gvk.kind : getKind(live);
  const { namespace, name } = parseId(input.id);
  if (!getName(asked)) setAt(asked, ["metadata", "name"], name);
  if (namespace) setAt(asked, ["metadata", "namespace"], namespace);
  return { asked, imported };
}

/** Returns all fields of a live object that a program could have written. */
function importedInputs(live: JsonObject): JsonObject {
  const rest = omitKeys(normalize(live), "status");
  removeAt(rest, ["metadata", "annotations", "deployment.kubernetes.io/revision"]);
  removeAt(rest, ["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"]);
  return rest;
}

async function reportUnready(
  session: ProviderSession,
  read: { input: ReadInput; asked: JsonObject; live: JsonObject; result: ReadResult },
): Promise<void> {
  try {
    await requireReady(session.cluster, session.logFor(read.input.urn), read.asked, read.live);
  } catch (error) {
    if (!(error instanceof NotReadyError)) throw error;
    throw new PartialError(error.message, read.live, read.result.properties, {
      inputs: read.result.inputs,
      problems: error.problems,
    });
  }
}
