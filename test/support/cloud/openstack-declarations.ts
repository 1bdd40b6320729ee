import type { Schema, Type, Types } from "./openstack-schemas.js";

/*
 * Generates the TypeScript declarations of an OpenStack SDK from the plugin's schema, for a version
 * that npm cannot install here. All inputs are optional, because the schema does not contain which
 * inputs are required.
 */

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const primitives: Readonly<Record<string, string>> = { integer: "number", number: "number" };

/** Returns a type as TypeScript. `wrap` returns the text for each value of an input. */
function typeOf(type: Type, wrap: (inner: string) => string): string {
  if (typeof type === "string") return primitives[type] ?? type;
  if (Array.isArray(type)) return `${wrap(typeOf((type as readonly [Type])[0], wrap))}[]`;
  const { "*": value, ...properties } = type as Types;
  return value === undefined
    ? `{ ${fieldsOf(properties, wrap)} }`
    : `{ [key: string]: ${wrap(typeOf(value, wrap))} }`;
}

const input = (inner: string): string => `pulumi.Input<${inner}>`;
const plain = (inner: string): string => inner;

const fieldsOf = (properties: Types, wrap: (inner: string) => string): string =>
  Object.entries(properties)
    .map(([name, type]) => `${name}${wrap === plain ? "" : "?"}: ${wrap(typeOf(type, wrap))};`)
    .join(" ");

const optional = (properties: Types): string =>
  Object.entries(properties)
    .map(([name, type]) => `${name}?: ${typeOf(type, plain)};`)
    .join(" ");

/** Splits `openstack:compute/instance:Instance` into the module and the name. */
function placeOf(token: string): readonly [module: string, name: string] {
  const [, path = "", name = ""] = token.split(":");
  return [path.split("/")[0] ?? "", name];
}

/**
 * Returns the declarations of named types for a resource's inputs, for example
 * `InstanceSchedulerHint` for the input `schedulerHints` of an Instance.
 */
const inputTypes = (name: string, inputs: Types): string =>
  Object.entries(inputs)
    .map(([property, type]) => [property, Array.isArray(type) ? (type[0] as Type) : type] as const)
    .filter(([, type]) => typeof type === "object" && !("*" in type))
    .map(
      ([property, type]) =>
        `type ${name}${capital(property.replace(/s$/, ""))} = ${typeOf(type, input)};`,
    )
    .join("\n");

/** Returns the declarations for a schema that has no named types. */
export function declarationsOf({ resources, functions }: Schema): string {
  const classes = Object.entries(resources).map(([token, { inputs, outputs }]) => {
    const [module, name] = placeOf(token);
    const fields = Object.entries(outputs).map(
      ([property, type]) => `readonly ${property}: pulumi.Output<${typeOf(type, plain)}>;`,
    );
    return `export declare namespace ${module} {
  interface ${name}Args { ${fieldsOf(inputs, input)} }
  class ${name} extends pulumi.CustomResource {
    constructor(name: string, args?: ${name}Args, opts?: pulumi.CustomResourceOptions);
    ${fields.join(" ")}
  }
}
export declare namespace types.input.${module} {
  ${inputTypes(name, inputs)}
}`;
  });
  const lookups = Object.entries(functions).map(([token, { inputs, outputs }]) => {
    const [module, name] = placeOf(token);
    return `export declare namespace ${module} {
  interface ${capital(name)}Args { ${optional(inputs)} }
  interface ${capital(name)}Result { id: string; ${fieldsOf(outputs, plain)} }
  function ${name}(args?: ${capital(name)}Args, opts?: pulumi.InvokeOptions): Promise<${capital(name)}Result>;
}`;
  });
  return ['import * as pulumi from "@pulumi/pulumi";', ...classes, ...lookups].join("\n");
}
