import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Cluster } from "../../components/index.js";
import {
  handled,
  handledConnection,
  handledProxy,
} from "../../toolchain/stand-ins/command/handled.js";
import { handledInputs } from "../../toolchain/stand-ins/kubernetes/handled.js";
import { cloudAnswers } from "../support/cloud-answers.js";
import { graph } from "../support/graph.js";
import type { Row } from "../support/graph.js";
import { smallest } from "../support/spec.js";

/** Type of the schema: a name, a list of one type, or an object by property. */
type Type = string | readonly [Type] | Readonly<{ [property: string]: Type }>;
interface Schema {
  readonly resources: Readonly<Record<string, { readonly inputs: Readonly<Record<string, Type>> }>>;
  readonly types: Readonly<Record<string, Readonly<Record<string, Type>>>>;
  readonly provider: Readonly<Record<string, Type>>;
}

const fixture = join(__dirname, "../fixtures/openstack-schema-3.15.2.json");
const openstack = JSON.parse(readFileSync(fixture, "utf8")) as Schema;

const secretMark = "4dabf18193072939515e22adb298388d";

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value inside a secret. */
function plain(value: unknown): unknown {
  return isObject(value) && secretMark in value ? plain(value["value"]) : value;
}

/** Returns the keys of `value` that are not in `names`. */
function strange(value: unknown, names: readonly string[]): string[] {
  const inner = plain(value);
  return isObject(inner) ? Object.keys(inner).filter((name) => !names.includes(name)) : [];
}

/** Returns sentences about the parts of an input that do not match its declared type. */
function misfits(path: string, value: unknown, type: Type): string[] {
  const given = plain(value);
  if (given === undefined || given === null) return [];
  if (Array.isArray(type)) {
    const [element] = type as readonly [Type];
    if (!Array.isArray(given)) return [`${path} is not a list`];
    return given.flatMap((inner: unknown, i) => misfits(`${path}[${i}]`, inner, element));
  }
  if (typeof type === "string") return simpleMisfits(path, given, type);
  return objectMisfits(path, given, type as Readonly<Record<string, Type>>);
}

function simpleMisfits(path: string, given: unknown, type: string): string[] {
  if (type === "pulumi.json#/Any") return [];
  const named = openstack.types[type];
  if (named) return objectMisfits(path, given, named);
  const expected = type === "integer" || type === "number" ? "number" : type;
  return typeof given === expected ? [] : [`${path} is ${typeof given}, not ${type}`];
}

function objectMisfits(
  path: string,
  given: unknown,
  properties: Readonly<Record<string, Type>>,
): string[] {
  if (!isObject(given)) return [`${path} is not an object`];
  return Object.entries(given).flatMap(([name, inner]) => {
    const type = properties[name] ?? properties["*"];
    if (type !== undefined) return misfits(`${path}.${name}`, inner, type);
    return inner === undefined ? [] : [`${path}.${name} is not in the schema`];
  });
}

describe("what the program sends to each plugin", () => {
  let rows: readonly Row[];
  before(async () => {
    const args = { ...smallest, zones: ["zone-a", "zone-b"], samples: true };
    rows = (await graph(() => new Cluster("dev", args), cloudAnswers)).filter(
      ({ custom }) => custom,
    );
  });

  const of = (prefix: string): readonly Row[] =>
    rows.filter(({ type }) => type.startsWith(prefix) || type === providerType(prefix));
  const providerType = (prefix: string): string => `pulumi:providers:${prefix.slice(0, -1)}`;

  it("goes to plugins that are part of the toolchain", () => {
    const packages = rows.map(({ type }) => type.split(":"));
    const names = packages.map(([name, , third]) => (name === "pulumi" ? third : name));
    assert.deepEqual([...new Set(names)].filter((name) => name !== "Stack").sort(), [
      "command",
      "kubernetes",
      "openstack",
    ]);
  });

  it("is handled by the command stand-in, property by property", () => {
    const found = of("command:").flatMap(({ type, name, inputs }) => {
      const connection = plain(inputs["connection"]);
      const proxy = isObject(connection) ? connection["proxy"] : undefined;
      return [
        ...strange(inputs, handled[type] ?? []),
        ...strange(connection, handledConnection),
        ...strange(proxy, handledProxy),
      ].map((property) => `${type} ${name}: ${property}`);
    });
    assert.ok(of("command:").length > 0);
    assert.deepEqual(found, []);
  });

  it("is handled by the kubernetes stand-in, kind by kind", () => {
    const found = of("kubernetes:").flatMap(({ type, name, inputs }) => {
      const names = handledInputs(type);
      if (names === undefined) return [`${type} ${name}: the whole type`];
      if (names === "any") return [];
      return strange(inputs, names).map((property) => `${type} ${name}: ${property}`);
    });
    assert.ok(of("kubernetes:").length > 0);
    assert.deepEqual(found, []);
  });

  it("has the names and types of the OpenStack package 3.15.2", () => {
    const found = of("openstack:").flatMap(({ type, name, inputs }) => {
      const declared =
        type === "pulumi:providers:openstack"
          ? openstack.provider
          : openstack.resources[type]?.inputs;
      if (!declared) return [`${type} ${name}: the whole type`];
      return objectMisfits(`${type} ${name}`, inputs, declared);
    });
    assert.ok(of("openstack:").length > 0);
    assert.deepEqual(found, []);
  });
});

describe("the comparison with a schema", () => {
  const declared = { a: "string", n: "integer", l: ["string"], m: { "*": "string" } } as const;
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, string[]])[] = [
    [{ a: "x", n: 1, l: ["y"], m: { any: "z" } }, []],
    [{ a: { [secretMark]: "s", value: "x" } }, []],
    [{ a: 1 }, ["it.a is number, not string"]],
    [{ l: "y" }, ["it.l is not a list"]],
    [{ l: [1] }, ["it.l[0] is number, not string"]],
    [{ m: { x: true } }, ["it.m.x is boolean, not string"]],
    [{ other: 1 }, ["it.other is not in the schema"]],
  ];
  for (const [inputs, expected] of cases) {
    it(`finds ${expected.join() || "nothing"} in ${JSON.stringify(inputs)}`, () => {
      assert.deepEqual(objectMisfits("it", inputs, declared), expected);
    });
  }
});
