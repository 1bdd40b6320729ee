/**
 * Converts property values between the engine and a provider. A property value is plain JSON. An
 * object with a signature key is a special value, for example a secret.
 */
import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/**
 * Key that marks an object as a special value, and its possible values (Pulumi's wire protocol).
 */
export const signatureKey = "4dabf18193072939515e22adb298388d";
export const signatures = {
  secret: "1b47061264138c4ac30d75fd1eb44270",
  asset: "c44067f5952c0a294b673a41bacd8c17",
  archive: "0def7320c3a5731c473e5ecbe6d01bc7",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
} as const;

/**
 * Placeholder of a string that is not known before the update. Other types have other placeholders.
 */
export const unknownString = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const unknowns: ReadonlySet<string> = new Set([
  unknownString,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

export function isUnknown(value: Json | undefined): boolean {
  return typeof value === "string" && unknowns.has(value);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the signature of a special value, or undefined for a plain value. */
export function getSignature(value: Json | undefined): string | undefined {
  if (!isObject(value)) return undefined;
  const signature = value[signatureKey];
  return typeof signature === "string" ? signature : undefined;
}

export function isSecret(value: Json | undefined): value is JsonObject {
  return getSignature(value) === signatures.secret;
}

/** Wraps a value as a secret, unless it is already a secret. */
export function wrapSecret(value: Json): JsonObject {
  return isSecret(value) ? value : { [signatureKey]: signatures.secret, value };
}

/** Returns the value in plain text at every depth. Unwraps secrets and output values. */
export function reveal(value: Json): Json {
  if (Array.isArray(value)) return value.map(reveal);
  if (!isObject(value)) return value;
  const signature = getSignature(value);
  if (signature === signatures.secret) return reveal(value["value"] ?? null);
  if (signature === signatures.output) {
    return value["value"] === undefined ? unknownString : reveal(value["value"]);
  }
  return mapObject(value, reveal);
}

/**
 * Replaces output values by plain values, secrets and unknown values. The engine sends output
 * values to providers that declare support for them.
 */
export function unwrapOutputs(value: Json): Json {
  if (Array.isArray(value)) return value.map(unwrapOutputs);
  if (!isObject(value)) return value;
  if (getSignature(value) !== signatures.output) return mapObject(value, unwrapOutputs);
  const inner = value["value"] === undefined ? unknownString : unwrapOutputs(value["value"]);
  return value["secret"] === true ? wrapSecret(inner) : inner;
}

/** Reports whether the value contains an unknown value at any depth. */
export function hasUnknown(value: Json | undefined): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return value.some(hasUnknown);
  if (isObject(value)) return Object.values(value).some(hasUnknown);
  return isUnknown(value);
}

export function mapObject(value: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]));
}

/** Returns a request's properties, or an empty object if there are none. */
export function decodeStruct(struct: Struct | undefined): JsonObject {
  const value: JsonObject = struct === undefined ? {} : struct.toJavaScript();
  return mapObject(value, unwrapOutputs);
}

export function encodeStruct(value: JsonObject): Struct {
  return Struct.fromJavaScript(value);
}
