import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { isMap, rewrite } from "./json.js";
import type { Json, JsonMap } from "./json.js";

/** Marks a wrapped value on Pulumi's wire (sdk/go/common/resource/sig). */
const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** What stands for a value that is not known yet, one per type (sdk/go/common/resource/plugin/rpc.go). */
const unknownValues = new Set<Json>([
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

export const isUnknown = (value: Json | undefined): boolean =>
  value !== undefined && unknownValues.has(value);

export function fromStruct(struct: Struct | undefined): JsonMap {
  return struct?.toJavaScript() ?? {};
}

export function toStruct(value: JsonMap): Struct {
  return Struct.fromJavaScript(value);
}

interface Secret extends JsonMap {
  value: Json;
}

export const isSecret = (value: Json | undefined): value is Secret =>
  isMap(value) && value[signatureKey] === secretSignature;

export const makeSecret = (value: Json): JsonMap =>
  isSecret(value) ? value : { [signatureKey]: secretSignature, value };

function some(value: Json, test: (value: Json) => boolean): boolean {
  if (test(value)) return true;
  if (Array.isArray(value)) return value.some((item) => some(item, test));
  return isMap(value) && Object.values(value).some((item) => some(item, test));
}

export const containsUnknown = (value: Json): boolean => some(value, isUnknown);
export const containsSecret = (value: Json): boolean => some(value, isSecret);

/** Keys that Kubernetes writes with dashes and Pulumi's SDKs with underscores. */
const dashed = [
  "embedded-resource",
  "int-or-string",
  "list-map-keys",
  "list-type",
  "map-type",
  "preserve-unknown-fields",
  "validations",
].map((name) => `x-kubernetes-${name}`);
const toDashes = new Map(dashed.map((key) => [key.replaceAll("-", "_"), key]));
const toUnderscores = new Map(dashed.map((key) => [key, key.replaceAll("-", "_")]));

/** Properties as a Kubernetes object: bare values, keys as Kubernetes writes them. Unknowns stay. */
export function toObject(properties: JsonMap): JsonMap {
  return rewrite(
    properties,
    (value) => (isSecret(value) ? value.value : value),
    (key) => toDashes.get(key) ?? key,
  ) as JsonMap;
}

/** A Kubernetes object as output properties: keys as the SDKs read them. */
export function toProperties(object: JsonMap): JsonMap {
  return rewrite(
    object,
    (value) => value,
    (key) => toUnderscores.get(key) ?? key,
  ) as JsonMap;
}

/**
 * Marks in `outs` what is secret in `ins`. A Secret's data and stringData always are. Within maps only the parts
 * concerned are marked; a list with one secret item is secret as a whole, since items may move.
 */
export function annotateSecrets(outs: JsonMap, ins: JsonMap): void {
  if (outs["kind"] === "Secret") {
    for (const key of ["data", "stringData"]) {
      const value = outs[key];
      if (value !== undefined) outs[key] = makeSecret(value);
    }
    return;
  }
  for (const [key, input] of Object.entries(ins)) {
    const output = outs[key];
    if (output === undefined) continue;
    const plain = (value: Json): value is JsonMap => isMap(value) && !isSecret(value);
    if (plain(output) && plain(input)) annotateSecrets(output, input);
    else if (containsSecret(input)) outs[key] = makeSecret(output);
  }
}
