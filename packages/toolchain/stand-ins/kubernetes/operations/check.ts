import { createHash, randomBytes } from "node:crypto";
import { setAt, getTextAt } from "../objects/json.js";
import { isListType, isPatchType, parseNameFromUrn } from "../objects/kinds.js";
import { normalize } from "../objects/normalize.js";
import {
  annotate,
  pulumiAnnotations,
  isAnnotationTrue,
  getKind,
  getName,
  getNamespace,
} from "../objects/object-fields.js";
import { annotateSecrets, toKubernetesObject } from "../objects/wire.js";
import type { JsonObject } from "../../plugin/values.js";

/**
 * Settings for the generated names of resources that have no name (`pulumi:autonaming` in the
 * stack's configuration).
 */
export interface Autonaming {
  readonly disabled: boolean;
  readonly proposedName: string;
}

export interface CheckInput {
  readonly urn: string;
  readonly olds: JsonObject;
  readonly news: JsonObject;
  /**
   * Seed of random names. Preview and update have the same seed, so that they generate the same
   * name.
   */
  readonly randomSeed: Uint8Array;
  readonly autonaming?: Autonaming;
  /**
   * Namespace for objects that need a namespace but have none. Undefined if the kind has no
   * namespace.
   */
  readonly namespace?: string;
}

/**
 * Validates inputs, normalizes them, and adds a name and a namespace. Keeps the marks of secrets.
 */
export function checkResource(input: CheckInput): JsonObject {
  const object = normalize(toKubernetesObject(input.news));
  refuseUnsupported(input.urn, object);
  const old = toKubernetesObject(input.olds);
  if (!getName(object)) {
    if (getTextAt(object, "metadata", "generateName")) {
      throw new Error(
        "the `.metadata.generateName` field is not supported in Server-Side Apply mode",
      );
    }
    const name = isAnnotationTrue(old, pulumiAnnotations.autonamed)
      ? getName(old)
      : autoname(input);
    // Keeps an unnamed resource without a name if an import gave a name to its old inputs.
    if (Object.keys(old).length === 0 || isAnnotationTrue(old, pulumiAnnotations.autonamed)) {
      setAt(object, ["metadata", "name"], name);
      annotate(object, pulumiAnnotations.autonamed, "true");
    }
  }
  if (input.namespace !== undefined && !getNamespace(object)) {
    setAt(object, ["metadata", "namespace"], input.namespace);
  }
  annotateSecrets(object, input.news);
  return object;
}

function refuseUnsupported(urn: string, object: JsonObject): void {
  if (isListType(urn)) {
    throw new Error(
      "list resources exist for compatibility with YAML manifests and Helm charts, and cannot be created directly. " +
        "Use the underlying resource type instead",
    );
  }
  if (isPatchType(urn, getKind(object))) {
    throw new Error(
      `the stand-in for the kubernetes provider does not handle Patch resources (${getKind(object)}Patch)`,
    );
  }
}

/**
 * Returns the name that the engine proposes. Without a proposal, returns the resource's name, a
 * dash and eight hexadecimal digits.
 */
function autoname(input: CheckInput): string {
  if (input.autonaming?.disabled) {
    throw new Error("autonaming is disabled, resource requires the .metadata.name field to be set");
  }
  if (input.autonaming?.proposedName) return input.autonaming.proposedName;
  return createUniqueName(`${parseNameFromUrn(input.urn)}-`, input.randomSeed);
}

export function createUniqueName(prefix: string, seed: Uint8Array = new Uint8Array()): string {
  const digits =
    seed.length > 0
      ? createHash("sha256").update(seed).digest("hex")
      : randomBytes(4).toString("hex");
  return prefix + digits.slice(0, 8);
}
