import assert from "node:assert/strict";
import { jsonSchema, type Schema } from "../../../../components/config/json-schema.js";
import {
  getPackageSchema,
  type ComponentSpec,
} from "../../../../components/provider/package-schema.js";
import type {
  ObjectTypeSpec,
  PropertySpec,
  TypeSpec,
} from "../../../../components/provider/type-specs.js";
import { golden } from "../../../support/golden.js";
import { nonEmpty } from "../../../support/non-empty.js";

const made = getPackageSchema("1.2.3");
const component = made.resources["stackadm:index:Cluster"] as ComponentSpec;
const names = Object.keys(made.types).map((token) => token.split(":")[2] ?? "");

/** Returns the type in one line: `[string]` for a list, `{string}` for a map. */
function shown(spec: TypeSpec): string {
  if (spec.$ref !== undefined) return spec.$ref.split(/[:/]/).at(-1) ?? "";
  if (spec.oneOf) return spec.oneOf.map(shown).join(" | ");
  if (spec.items) return `[${shown(spec.items)}]`;
  if (spec.additionalProperties) return `{${shown(spec.additionalProperties)}}`;
  return spec.type ?? "";
}

const lines = (
  of: string,
  properties: Readonly<Record<string, PropertySpec>>,
  required: readonly string[],
): string[] =>
  Object.entries(properties).map(([key, spec]) =>
    [
      `${of}.${key}: ${spec.const === undefined ? shown(spec) : JSON.stringify(spec.const)}`,
      ...(required.includes(key) ? ["required"] : []),
      ...(spec.plain ? [] : ["output"]),
      ...(spec.secret ? ["secret"] : []),
    ].join(" "),
  );

const objects = Object.entries(made.types).filter(
  (entry): entry is [string, ObjectTypeSpec] => entry[1].type === "object",
);

const summary = [
  ...lines("Cluster", component.inputProperties, component.requiredInputs),
  ...lines("Cluster", component.properties, component.required),
  ...Object.entries(made.types).flatMap(([token, spec]) => {
    const name = token.split(":")[2] ?? "";
    return spec.type === "object"
      ? lines(name, spec.properties, spec.required)
      : [`${name}: ${spec.enum.map((one) => `${one.name}=${one.value}`).join(" ")}`];
  }),
];

/** Returns every type in a schema: of properties, list entries, map values and union members. */
const typesIn = (spec: TypeSpec): readonly TypeSpec[] => [
  spec,
  ...[spec.items, spec.additionalProperties, ...(spec.oneOf ?? [])].flatMap((one) =>
    one ? typesIn(one) : [],
  ),
];

const allProperties = [
  component.inputProperties,
  component.properties,
  ...objects.map(([, { properties }]) => properties),
].flatMap((properties) => Object.values(properties));

/** Returns the paths of arguments, with `*` for the key of an entry. */
function pathsIn(schema: Schema, path: readonly string[] = []): readonly string[] {
  const inner = [
    ...Object.entries(schema.properties ?? {}).map(([key, value]) => [key, value] as const),
    ...[schema.items, schema.additionalProperties].flatMap((one) =>
      typeof one === "object" ? [["*", one] as const] : [],
    ),
    ...(schema.oneOf ?? []).flatMap((one) => Object.entries(one.properties ?? {})),
  ];
  return inner.flatMap(([key, value]) => {
    const here = [...path, key];
    return [here.join("."), ...pathsIn(value, here)];
  });
}

/** Returns the type at a path of the package's schema. Undefined: it has no such argument. */
function find(path: readonly string[], specs: readonly TypeSpec[]): readonly TypeSpec[] {
  const [key, ...rest] = path;
  if (key === undefined) return specs;
  const next = specs.flatMap((spec): readonly TypeSpec[] => {
    if (spec.oneOf) return find([key], spec.oneOf);
    if (spec.items ?? spec.additionalProperties)
      return [spec.items, spec.additionalProperties].flatMap((one) => one ?? []);
    const object = made.types[spec.$ref?.replace("#/types/", "") ?? ""];
    const found = object?.type === "object" ? object.properties[key] : undefined;
    return found ? [found] : [];
  });
  return next.length === 0 ? [] : find(rest, next);
}

describe("the schema of the Pulumi package", () => {
  it("has the recorded arguments, outputs and types", () => {
    golden("package-schema.txt", `${summary.join("\n")}\n`);
  });

  it("has every argument of the one schema", () => {
    const paths = nonEmpty(pathsIn(jsonSchema()));
    assert.ok(paths.length > 400, String(paths.length));
    const lacking = paths.filter((path) => {
      const [first = "", ...rest] = path.split(".");
      const spec = component.inputProperties[first];
      return !spec || find(rest, [spec]).length === 0;
    });
    assert.deepEqual(lacking, []);
  });

  it("keeps the secrets of the one schema secret", () => {
    const outputs = summary.filter(
      (line) => line.includes(" secret") && !/^(Cluster|\w+Info)\./.test(line),
    );
    assert.deepEqual(outputs, [
      "NetworkProxy.http: string output secret",
      "NetworkProxy.https: string output secret",
      "KubernetesRegistriesEntry.password: string output secret",
      "PodNetworkKubeRouterPeer.password: string output secret",
      "Credential.secret: string output secret",
      "Credential.password: string output secret",
    ]);
  });

  it("has no defaults, which generated code would send as written values", () => {
    assert.ok(allProperties.length > 400);
    assert.deepEqual(
      allProperties.filter((property) => "default" in property),
      [],
    );
  });

  it("refers only to types that it has", () => {
    const references = allProperties
      .flatMap(typesIn)
      .flatMap(({ $ref }) => ($ref?.startsWith("#/types/") ? [$ref.slice("#/types/".length)] : []));
    assert.ok(references.length > 100);
    assert.deepEqual(
      references.filter((token) => !made.types[token]),
      [],
    );
  });

  it("names types and values as identifiers, and no type like a component", () => {
    const values = Object.values(made.types).flatMap((type) =>
      type.type === "string" ? type.enum.map(({ name }) => name) : [],
    );
    const wrong = [...nonEmpty(names), ...nonEmpty(values)].filter(
      (name) => !/^[A-Z]\w*$/.test(name),
    );
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      names.filter((name) => ["Cluster", "WorkerPool"].includes(name)),
      [],
    );
  });

  it("describes every argument that has a value, with default and effect of a change", () => {
    const { protect, ssh } = component.inputProperties;
    assert.match(protect?.description ?? "", /Default: `false`\.\n\nChange: in place\.$/);
    assert.equal(ssh?.plain, true);
    assert.equal(made.version, "1.2.3");
    assert.ok(!component.requiredInputs.includes("name"));
  });
});
