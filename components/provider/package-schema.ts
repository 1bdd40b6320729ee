import { z } from "zod";
import { jsonSchema, type Schema } from "../config/json-schema.js";
import { clusterType } from "../pulumi/cluster-type.js";
import { clusterOutputsSchema } from "./output-schema.js";
import {
  TypeSpecs,
  type EnumTypeSpec,
  type ObjectTypeSpec,
  type PropertySpec,
} from "./type-specs.js";

/** Package of Pulumi, as `pulumi package get-schema` prints it. */
export interface PackageSchema {
  readonly name: string;
  readonly version: string;
  readonly displayName: string;
  readonly description: string;
  readonly license: string;
  readonly language: Readonly<Record<string, { readonly respectSchemaVersion: true }>>;
  readonly types: Readonly<Record<string, ObjectTypeSpec | EnumTypeSpec>>;
  readonly resources: Readonly<Record<string, ComponentSpec>>;
}

export interface ComponentSpec {
  readonly isComponent: true;
  readonly description: string;
  readonly inputProperties: Readonly<Record<string, PropertySpec>>;
  readonly requiredInputs: readonly string[];
  readonly properties: Readonly<Record<string, PropertySpec>>;
  readonly required: readonly string[];
}

const [packageName = ""] = clusterType.split(":");

/** Languages whose generated code has the version of this package. */
const languages = ["nodejs", "python", "go", "csharp", "java"];

/** Returns the token of a type in this package. */
const tokenOf = (name: string): string => `${packageName}:index:${name}`;

/**
 * Returns the schema of the package for programs in all languages of Pulumi. Arguments, types and
 * documentation come from the schema of the arguments ({@link jsonSchema}).
 *
 * @param version version of this package
 */
export function getPackageSchema(version: string): PackageSchema {
  const args = jsonSchema();
  const outputs = z.toJSONSchema(clusterOutputsSchema, { io: "output" }) as Schema;
  const inputTypes = new TypeSpecs(tokenOf, "arguments");
  const outputTypes = new TypeSpecs((name) => tokenOf(`${name}Info`), "outputs");
  const component = {
    isComponent: true,
    description: "Kubernetes cluster on OpenStack, created with kubeadm.",
    inputProperties: inputTypes.properties(args),
    // The default of the name is the name of the component.
    requiredInputs: (args.required ?? []).filter((key) => key !== "name"),
    properties: outputTypes.properties(outputs),
    required: outputs.required ?? [],
  } as const;
  return {
    name: packageName,
    version,
    displayName: packageName,
    description: component.description,
    license: "Apache-2.0",
    language: Object.fromEntries(
      languages.map((one) => [one, { respectSchemaVersion: true } as const]),
    ),
    resources: { [clusterType]: component },
    types: { ...inputTypes.types, ...outputTypes.types },
  };
}
