import { removeAt, textAt, without } from "./json.js";
import { isSecretKind } from "./kinds.js";
import { annotateSecrets, containsSecret, toObject, toProperties } from "./wire.js";
import { asSecret, isObject } from "../plugin/values.js";
import type { JsonObject } from "../plugin/values.js";

/** Keys of the state that are not part of the object. */
const inputsKey = "__inputs";
const initialApiVersionKey = "__initialApiVersion";
const fieldManagerKey = "__fieldManager";

export interface Checkpoint {
  /** The inputs of the last write. */
  readonly inputs: JsonObject;
  /** The object as the server had it after the last write or refresh. */
  readonly live: JsonObject;
  readonly initialApiVersion: string;
  /** Empty for a resource that was imported. */
  readonly fieldManager: string;
}

/** Reads a state back: without secret marks, keys as Kubernetes writes them. */
export function parseCheckpoint(state: JsonObject): Checkpoint {
  const object = toObject(state);
  const inputs = object[inputsKey];
  return {
    inputs: isObject(inputs) ? inputs : {},
    live: without(object, inputsKey, initialApiVersionKey, fieldManagerKey),
    initialApiVersion: textAt(object, initialApiVersionKey),
    fieldManager: textAt(object, fieldManagerKey),
  };
}

/**
 * The state to keep: the live object as outputs, and with it what the next diff and update need. `marks` are inputs
 * as the engine sent them; what is secret there is secret in the state, and a Secret's data always is.
 */
export function writeCheckpoint(checkpoint: Checkpoint, marks: JsonObject): JsonObject {
  const live = structuredClone(checkpoint.live);
  removeAt(live, ["metadata", "managedFields"]);
  const state = toProperties(live);
  const inputs = toProperties(checkpoint.inputs);
  annotateSecrets(state, marks);
  annotateSecrets(inputs, marks);
  const texts = marks["stringData"];
  if (isSecretKind(live) && texts !== undefined && containsSecret(texts) && state["data"]) {
    state["data"] = asSecret(state["data"]);
  }
  return {
    ...state,
    [inputsKey]: inputs,
    [initialApiVersionKey]: checkpoint.initialApiVersion,
    [fieldManagerKey]: checkpoint.fieldManager,
  };
}
