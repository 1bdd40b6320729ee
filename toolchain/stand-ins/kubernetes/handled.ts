import { awaited } from "./await/wait.js";

/** Property names of a resource type's inputs; `any` when all are passed on to the API server as they are. */
export type HandledInputs = "any" | readonly string[];

/** The provider's own arguments that the stand-in follows; every other one is refused or has no effect. */
export const handledProviderInputs: readonly string[] = [
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
];

/** Components whose work is a function call on the stand-in. */
export const handledInvokes: readonly string[] = ["kubernetes:yaml:decode"];

/** Kinds that are waited for, as `<apiVersion>/<kind>`. All others are ready when they exist. */
export const awaitedKinds: readonly string[] = Object.keys(awaited);

/** What the stand-in does with a resource type: `undefined` when it refuses it. */
export function handledInputs(type: string): HandledInputs | undefined {
  if (type === "pulumi:providers:kubernetes") return handledProviderInputs;
  const [packageName, module = "", kind = ""] = type.split(":");
  const isObject = packageName === "kubernetes" && /^[a-z0-9.-]+\/v[0-9a-z]+$/.test(module);
  const isHelm = module.startsWith("helm.sh/") || module.startsWith("kustomize/");
  if (!isObject || isHelm || module.startsWith("yaml/")) return undefined;
  return kind.endsWith("Patch") || kind.endsWith("List") ? undefined : "any";
}
