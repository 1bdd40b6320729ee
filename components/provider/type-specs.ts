import type { Schema } from "../config/json-schema.js";

/** Type in the schema of a Pulumi package. */
export interface TypeSpec {
  readonly type?: "string" | "boolean" | "integer" | "number" | "array" | "object";
  readonly $ref?: string;
  readonly items?: TypeSpec;
  readonly additionalProperties?: TypeSpec;
  readonly oneOf?: readonly TypeSpec[];
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
  /** Whether the value must be known when the program registers the component. */
  readonly plain?: true;
}

export interface PropertySpec extends TypeSpec {
  readonly description?: string;
  readonly const?: string;
  readonly secret?: true;
}

export interface ObjectTypeSpec {
  readonly type: "object";
  readonly description?: string;
  readonly properties: Readonly<Record<string, PropertySpec>>;
  readonly required: readonly string[];
}

export interface EnumTypeSpec {
  readonly type: "string";
  readonly enum: readonly { readonly name: string; readonly value: string }[];
}

type Primitive = "string" | "boolean" | "integer" | "number";

const anyType: TypeSpec = { $ref: "pulumi.json#/Any" };

const isPrimitive = (type: Schema["type"]): type is Primitive =>
  ["string", "boolean", "integer", "number"].includes(String(type));

/** Returns whether every language can have this name as the name of a field. */
const isIdentifier = (name: string): boolean => /^[A-Za-z]\w*$/.test(name);

/** Returns the text as a part of a type's name: `load-balancer` gives `LoadBalancer`. */
const capitalise = (text: string): string =>
  text
    .split(/\W+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");

/**
 * Returns the name of one entry of a list or map: `storageClasses` gives `storageClass`, and
 * `registries` gives `registriesEntry`, because `registry` is another argument.
 */
const singular = (plural: string): string =>
  plural
    .replace(/ies$/, "iesEntry")
    .replace(/(ss|ch)es$/, "$1")
    .replace(/([^s])s$/, "$1");

/** Returns the name of the value in generated code, which begins with a letter. */
const enumName = (value: string): string => capitalise(/^\d/.test(value) ? `v${value}` : value);

/**
 * Converts JSON schemas to types of a Pulumi package. Each object and each enumeration gets a named
 * type. Its name consists of the keys of its path, so a new argument never renames another type.
 */
export class TypeSpecs {
  readonly types: Record<string, ObjectTypeSpec | EnumTypeSpec> = {};

  /**
   * @param token returns the token of a named type
   * @param kind whether the types are arguments, which are plain, or outputs
   */
  constructor(
    private readonly token: (name: string) => string,
    private readonly kind: "arguments" | "outputs",
  ) {}

  /** Returns the properties of an object, by name. `name` begins the names of their types. */
  properties(schema: Schema, name = ""): Record<string, PropertySpec> {
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([key, value]) => [
        key,
        this.property(value, `${name}${capitalise(key)}`, schema.required?.includes(key) ?? false),
      ]),
    );
  }

  private property(schema: Schema, name: string, required: boolean): PropertySpec {
    const description = describe(schema, required);
    return {
      ...this.type(schema, name),
      ...(description !== "" && { description }),
      ...(typeof schema.const === "string" && { const: schema.const }),
      ...(schema.acceptsOutput === "value" && { secret: true }),
    };
  }

  private type(schema: Schema, name: string): TypeSpec {
    if (schema.acceptsOutput !== undefined) return { type: "string" };
    const spec = this.shape(schema, name);
    return this.kind === "arguments" ? { ...spec, plain: true } : spec;
  }

  private shape(schema: Schema, name: string): TypeSpec {
    const { oneOf, anyOf, properties, items, additionalProperties } = schema;
    if (oneOf) return this.union(oneOf, name);
    if (anyOf) return this.alternatives(anyOf, name);
    if (properties) return this.object(schema, properties, schema.typeName ?? name);
    if (items) return { type: "array", items: this.type(items, singular(name)) };
    if (typeof additionalProperties === "object")
      return {
        type: "object",
        additionalProperties: this.type(additionalProperties, singular(name)),
      };
    if (schema.enum) return this.enumeration(schema.enum, name);
    return isPrimitive(schema.type) ? { type: schema.type } : anyType;
  }

  /**
   * Returns the type of an object. An object with a key that is no identifier, such as
   * `kube-apiserver`, becomes a map.
   */
  private object(
    schema: Schema,
    properties: NonNullable<Schema["properties"]>,
    name: string,
  ): TypeSpec {
    const [first] = Object.values(properties);
    if (first && !Object.keys(properties).every(isIdentifier))
      return { type: "object", additionalProperties: this.type(first, singular(name)) };
    return this.named(name, {
      type: "object",
      ...(schema.description !== undefined && { description: schema.description }),
      properties: this.properties(schema, name),
      required: schema.required ?? [],
    });
  }

  /** Returns the type of alternatives. If one of them is any value, the others say nothing. */
  private alternatives(members: readonly Schema[], name: string): TypeSpec {
    const oneOf = members.map((one) => this.type(one, name));
    return oneOf.some(({ $ref }) => $ref === anyType.$ref) ? anyType : { oneOf };
  }

  /** Returns the type of a union whose members have different values of `kind` or `type`. */
  private union(members: readonly Schema[], name: string): TypeSpec {
    const objects = members.filter(({ properties }) => properties !== undefined);
    const [propertyName = "kind"] = Object.entries(objects.at(-1)?.properties ?? {}).flatMap(
      ([key, value]) => (value.const === undefined ? [] : [key]),
    );
    const mapping: Record<string, string> = {};
    const oneOf = members.map((member) => {
      const word = member.properties?.[propertyName]?.const;
      if (typeof word !== "string") return this.type({ ...member, enum: undefined }, name);
      const spec = this.type(member, `${name}${capitalise(word)}`);
      if (spec.$ref !== undefined) mapping[word] = spec.$ref;
      return spec;
    });
    return { oneOf, discriminator: { propertyName, mapping } };
  }

  /** Returns the type of a text with a fixed list of values. One value needs no type. */
  private enumeration(values: readonly string[], name: string): TypeSpec {
    if (values.length < 2) return { type: "string" };
    return this.named(name, {
      type: "string",
      enum: values.map((value) => ({ name: enumName(value), value })),
    });
  }

  private named(name: string, spec: ObjectTypeSpec | EnumTypeSpec): TypeSpec {
    const token = this.token(name);
    const known = this.types[token];
    if (known && JSON.stringify(known) !== JSON.stringify(spec))
      throw new TypeError(`two types of the package have the name ${name}`);
    this.types[token] = spec;
    return { $ref: `#/types/${token}` };
  }
}

/**
 * Returns the description of a property as Markdown. The default is part of the text. It is not part
 * of the type, because generated code would send it as if the user had written it.
 */
function describe({ description, change, ...schema }: Schema, required: boolean): string {
  const { default: value } = schema;
  const shown = schema.otherwise ?? (isWorthShowing(value) ? `\`${JSON.stringify(value)}\`` : "");
  return [
    description ?? "",
    required || shown === "" ? "" : `Default: ${shown}.`,
    change === undefined ? "" : `Change: ${change}.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const isWorthShowing = (value: unknown): boolean =>
  value !== undefined && !(typeof value === "object" && JSON.stringify(value) === "{}");
