import { readinessChecksByKind } from "./await/wait.js";

/**
 * Names of a resource type's input properties. `any` means that the stand-in sends all properties
 * to the API server.
 */
export type SupportedInputs = "any" | readonly string[];

/** Provider arguments that the stand-in supports. All others are refused or have no effect. */
export const supportedProviderInputs: readonly string[] = [
  "kubeconfig",
  "context",
  "cluster",
  "namespace",
  "clusterIdentifier",
  "enableServerSideApply",
  "enablePatchForce",
  "upsertExistingObjects",
  "enableConfigMapMutable",
  "enableSecretMutable",
  "deleteUnreachable",
  "skipUpdateUnreachable",
];

/**
 * Functions (invokes) that the stand-in supports. SDK components like ConfigFile call these
 * functions.
 */
export const supportedInvokes: readonly string[] = ["kubernetes:yaml:decode"];

/**
 * Kinds for which the stand-in waits, as `<apiVersion>/<kind>`. Objects of all other kinds are
 * ready as soon as they exist.
 */
export const awaitedKinds: readonly string[] = Object.keys(readinessChecksByKind);

/**
 * Returns the supported inputs of a resource type, or `undefined` if the stand-in refuses the type.
 */
export function getSupportedInputs(type: string): SupportedInputs | undefined {
  if (type === "pulumi:providers:kubernetes") return supportedProviderInputs;
  const [packageName, module = "", kind = ""] = type.split(":");
  const isObject = packageName === "kubernetes" && /^[a-z0-9.-]+\/v[0-9a-z]+$/.test(module);
  const isHelm = module.startsWith("helm.sh/") || module.startsWith("kustomize/");
  if (!isObject || isHelm || module.startsWith("yaml/")) return undefined;
  return kind.endsWith("Patch") || kind.endsWith("List") ? undefined : "any";
}
