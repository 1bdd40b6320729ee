import { jsonSchema, type Schema } from "../../../components/config/json-schema.js";
import { changeEffects, type ChangeEffect } from "../../../components/schema/fields.js";

/** Key of the configuration that has a value, not further keys. */
export interface Leaf {
  /** Path of the value: `workers.<pool>.count`. */
  readonly path: string;
  readonly description: string;
  readonly change: ChangeEffect;
  /** Default as Markdown. */
  readonly default: string;
  /** Type of the value, in words: `list of strings`. */
  readonly type: string;
  /** Part that may be an output in a program: the value, or each entry of the list or map. */
  readonly acceptsOutput: "value" | "entries" | undefined;
}

const isObject = (schema: Schema): boolean => schema.properties !== undefined;

const keyed = (schema: Schema): Schema | undefined =>
  typeof schema.additionalProperties === "object" && isObject(schema.additionalProperties)
    ? schema.additionalProperties
    : undefined;

const listed = (schema: Schema): Schema | undefined =>
  schema.items && isObject(schema.items) ? schema.items : undefined;

const defaultOf = (schema: Schema, required: boolean): string => {
  if (schema.otherwise !== undefined) return schema.otherwise;
  if (schema.default !== undefined) return `\`${JSON.stringify(schema.default)}\``;
  return required ? "**required**" : "none";
};

const isChangeEffect = (text: string | undefined): text is ChangeEffect =>
  (changeEffects as readonly (string | undefined)[]).includes(text);

/** Returns the type of a value in words. Returns an empty text if the schema states no type. */
function typeOf({ type, enum: words, items, additionalProperties, anyOf }: Schema): string {
  if (words) return words.map((word) => `\`${word}\``).join(", ");
  if (type === "array") return items ? `list of ${plural(typeOf(items))}` : "list";
  if (type === "object")
    return typeof additionalProperties === "object"
      ? `map of ${plural(typeOf(additionalProperties))}`
      : "map";
  if (anyOf) return [...new Set(anyOf.map(typeOf))].filter((one) => one !== "").join(" or ");
  return typeof type === "string" ? type : (type ?? []).join(" or ");
}

const plural = (type: string): string =>
  /^(string|integer|number|boolean|map)$/.test(type) ? `${type}s` : type || "values";

const outputPartOf = ({
  acceptsOutput,
  items,
  additionalProperties,
}: Schema): Leaf["acceptsOutput"] => {
  if (acceptsOutput !== undefined) return "value";
  const entries = items ?? additionalProperties;
  return typeof entries === "object" && entries.acceptsOutput !== undefined ? "entries" : undefined;
};

const leaf = (schema: Schema, path: string, required: boolean): Leaf => {
  const { description, change } = schema;
  if (description === undefined || !isChangeEffect(change))
    throw new Error(`${path}: the schema has no documentation for it`);
  return {
    path,
    description,
    change,
    default: defaultOf(schema, required),
    type: typeOf(schema),
    acceptsOutput: outputPartOf(schema),
  };
};

/** Returns every value that can be set, in the order of the schema. */
export function leaves(schema: Schema, path = "", required = true): readonly Leaf[] {
  const [inKeys, inList] = [keyed(schema), listed(schema)];
  if (schema.oneOf) return leavesOfUnion(schema, schema.oneOf, path);
  // A value can be required within an entry, even if no entry is required.
  const keys = schema.entries ?? (path === "workers" ? "pool" : "name");
  if (inKeys) return leaves(inKeys, `${path}.<${keys}>`);
  if (inList) return leaves(inList, `${path}[]`, false);
  if (!schema.properties) return [leaf(schema, path, required)];
  return Object.entries(schema.properties).flatMap(([key, value]) =>
    leaves(
      value,
      path === "" ? key : `${path}.${key}`,
      required && !!schema.required?.includes(key),
    ),
  );
}

/**
 * Returns the kind first, then the values of all members; a value that several members have is
 * listed once.
 */
function leavesOfUnion(union: Schema, members: readonly Schema[], path: string): readonly Leaf[] {
  const { kind } = { kind: undefined, ...(union.default as object | undefined) };
  const kinds = members.map(({ properties }) => properties?.["kind"]?.const);
  const others = members
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([key]) => key !== "kind");
  const words = kinds.filter((one) => typeof one === "string");
  return [
    leaf({ ...union, default: kind, enum: words }, `${path}.kind`, true),
    ...[...new Map(others)].flatMap(([key, value]) => leaves(value, `${path}.${key}`, false)),
  ];
}

/** Arguments that the program fills, so that no stack file needs them. */
const filledArguments = ["name", "ssh"];

/**
 * Returns the JSON schema of a stack file, for editors. The key of the cluster is
 * `<project>:cluster`.
 */
export function stackFileSchema(): object {
  const { $schema, $defs, ...cluster } = jsonSchema() as Schema & Record<string, unknown>;
  const { ssh = {}, ...properties } = cluster.properties ?? {};
  return {
    $schema,
    title: "Pulumi.<stack>.yaml of stackadm",
    type: "object",
    properties: {
      config: {
        type: "object",
        patternProperties: {
          "^[A-Za-z0-9_.-]+:cluster$": {
            ...cluster,
            properties: { ...properties, ssh: { ...ssh, required: [] } },
            required: (cluster.required ?? []).filter((key) => !filledArguments.includes(key)),
          },
        },
      },
    },
    $defs,
  };
}
