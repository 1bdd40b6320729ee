import * as pulumi from "@pulumi/pulumi";
import type { ManifestDocument } from "./manifest-documents.js";

/** Returns the object with its secret values as secret outputs. */
function withSecrets(object: ManifestDocument): pulumi.Inputs {
  const { data, stringData } = object;
  if (object.apiVersion !== "v1" || object.kind !== "Secret") return { ...object };
  return {
    ...object,
    ...(data !== undefined && { data: pulumi.secret(data) }),
    ...(stringData !== undefined && { stringData: pulumi.secret(stringData) }),
  };
}

/**
 * Kubernetes object of any kind, also of a kind that Pulumi's SDK does not have. The Kubernetes
 * plugin takes group, version and kind from the type of the resource.
 */
export class KubernetesObject extends pulumi.CustomResource {
  constructor(name: string, object: ManifestDocument, opts?: pulumi.CustomResourceOptions) {
    const { apiVersion, kind } = object;
    const module = apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`;
    super(`kubernetes:${module}:${kind}`, name, withSecrets(object), {
      ...opts,
      additionalSecretOutputs: ["data", "stringData"],
    });
  }
}
