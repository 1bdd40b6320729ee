import { removeAt, getTextAt, omitKeys } from "../objects/json.js";
import { isSecretKind } from "../objects/kinds.js";
import {
  annotateSecrets,
  containsSecret,
  toKubernetesObject,
  toProperties,
} from "../objects/wire.js";
import { wrapSecret, isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/** Keys that a resource's state has in addition to the fields of the Kubernetes object. */
const inputsKey = "__inputs";
const initialApiVersionKey = "__initialApiVersion";
const fieldManagerKey = "__fieldManager";

/** State of a resource, as the plugin returns it to the engine. */
export interface Checkpoint {
  /** Inputs of the last write. */
  readonly inputs: JsonObject;
  /** Object that the server returned at the last write or refresh. */
  readonly live: JsonObject;
  readonly initialApiVersion: string;
  /** Field manager of the object. Empty for an imported resource. */
  readonly fieldManager: string;
}

/**
 * Parses the state of a resource. Returns secret values in plain text, and keys in the spelling of
 * Kubernetes: `x-kubernetes-list-type`, not `x_kubernetes_list_type`.
 */
export function parseCheckpoint(state: JsonObject): Checkpoint {
  const object = toKubernetesObject(state);
  const inputs = object[inputsKey];
  return {
    inputs: isObject(inputs) ? inputs : {},
    live: omitKeys(object, inputsKey, initialApiVersionKey, fieldManagerKey),
    initialApiVersion: getTextAt(object, initialApiVersionKey),
    fieldManager: getTextAt(object, fieldManagerKey),
  };
}

/**
 * Returns the state of a resource: the live object as outputs, and the values that the next diff
 * and update need.
 *
 * @param marks inputs as the engine sent them. Values that are secret in these inputs become secret
 * in the state. The data of a Kubernetes Secret always becomes secret in the state
 */
export function renderCheckpoint(checkpoint: Checkpoint, marks: JsonObject): JsonObject {
  const live = structuredClone(checkpoint.live);
  removeAt(live, ["metadata", "managedFields"]);
  const state = toProperties(live);
  const inputs = toProperties(checkpoint.inputs);
  annotateSecrets(state, marks);
  annotateSecrets(inputs, marks);
  const texts = marks["stringData"];
  if (isSecretKind(live) && texts !== undefined && containsSecret(texts) && state["data"]) {
    state["data"] = wrapSecret(state["data"]);
  }
  return {
    ...state,
    [inputsKey]: inputs,
    [initialApiVersionKey]: checkpoint.initialApiVersion,
    [fieldManagerKey]: checkpoint.fieldManager,
  };
}
