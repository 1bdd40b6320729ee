import assert from "node:assert/strict";
import {
  openstackPluginVersions,
  type PulumiOpenstackVersion,
} from "../../../../base/versions/pulumi-openstack-versions.js";
import { Cluster } from "../../../../components/index.js";
import {
  supportedProperties,
  supportedConnectionProperties,
  supportedProxyProperties,
} from "../../stand-ins/command/supported-inputs.js";
import { getSupportedInputs } from "../../stand-ins/kubernetes/supported-inputs.js";
import { cloudAnswers } from "../../../../test/support/cloud/cloud-answers.js";
import { graph } from "../../../../test/support/graph/graph.js";
import type { Fields, Row } from "../../../../test/support/graph/graph.js";
import {
  schemaOf,
  type Schema,
  type Type,
  type Types,
} from "../../../../test/support/cloud/openstack-schemas.js";
import { smallest } from "../../../../test/support/config/spec.js";

type Named = NonNullable<Schema["types"]>;

const secretMark = "4dabf18193072939515e22adb298388d";

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the plain value of a secret. Returns other values unchanged. */
function plain(value: unknown): unknown {
  return isObject(value) && secretMark in value ? plain(value["value"]) : value;
}

/** Returns the keys of `value` that `names` does not contain. */
function strange(value: unknown, names: readonly string[]): string[] {
  const inner = plain(value);
  return isObject(inner) ? Object.keys(inner).filter((name) => !names.includes(name)) : [];
}

/** Returns a sentence for each part of an input that does not match its declared type. */
function misfits(path: string, value: unknown, type: Type, types: Named): string[] {
  const given = plain(value);
  if (given === undefined || given === null) return [];
  if (Array.isArray(type)) {
    const [element] = type as readonly [Type];
    if (!Array.isArray(given)) return [`${path} is not a list`];
    return given.flatMap((inner: unknown, i) => misfits(`${path}[${i}]`, inner, element, types));
  }
  if (typeof type === "string") return simpleMisfits(path, given, type, types);
  return objectMisfits(path, given, type as Types, types);
}

function simpleMisfits(path: string, given: unknown, type: string, types: Named): string[] {
  if (type === "pulumi.json#/Any" || type === "any") return [];
  const named = types[type];
  if (named) return objectMisfits(path, given, named, types);
  const expected = type === "integer" || type === "number" ? "number" : type;
  return typeof given === expected ? [] : [`${path} is ${typeof given}, not ${type}`];
}

function objectMisfits(
  path: string,
  given: unknown,
  properties: Types,
  types: Named = {},
): string[] {
  if (!isObject(given)) return [`${path} is not an object`];
  return Object.entries(given).flatMap(([name, inner]) => {
    const type = properties[name] ?? properties["*"];
    if (type !== undefined) return misfits(`${path}.${name}`, inner, type, types);
    return inner === undefined ? [] : [`${path}.${name} is not in the schema`];
  });
}

describe("resources that the program sends to plugins", () => {
  let rows: readonly Row[];
  const made = async (openstackPlugin?: PulumiOpenstackVersion): Promise<readonly Row[]> => {
    const chosen = openstackPlugin && { openstackPlugin };
    const args = { ...smallest, zones: ["zone-a", "zone-b"], samples: true, ...chosen };
    const all = await graph(() => new Cluster("dev", args), cloudAnswers);
    return all.filter(({ custom }) => custom);
  };
  before(async () => {
    rows = await made();
  });

  const of = (prefix: string, among = rows): readonly Row[] =>
    among.filter(({ type }) => type.startsWith(prefix) || type === providerType(prefix));
  const providerType = (prefix: string): string => `pulumi:providers:${prefix.slice(0, -1)}`;

  it("use only plugins of the toolchain", () => {
    const packages = rows.map(({ type }) => type.split(":"));
    const names = packages.map(([name, , third]) => (name === "pulumi" ? third : name));
    assert.deepEqual([...new Set(names)].filter((name) => name !== "Stack").sort(), [
      "command",
      "kubernetes",
      "openstack",
    ]);
  });

  it("use only properties that the command stand-in supports", () => {
    const found = of("command:").flatMap(({ type, name, inputs }) => {
      const connection = plain(inputs["connection"]);
      const proxy = isObject(connection) ? connection["proxy"] : undefined;
      return [
        ...strange(inputs, supportedProperties[type] ?? []),
        ...strange(connection, supportedConnectionProperties),
        ...strange(proxy, supportedProxyProperties),
      ].map((property) => `${type} ${name}: ${property}`);
    });
    assert.ok(of("command:").length > 0);
    assert.deepEqual(found, []);
  });

  it("use only kinds that the Kubernetes stand-in supports", () => {
    const found = of("kubernetes:").flatMap(({ type, name, inputs }) => {
      const names = getSupportedInputs(type);
      if (names === undefined) return [`${type} ${name}: the whole type`];
      if (names === "any") return [];
      return strange(inputs, names).map((property) => `${type} ${name}: ${property}`);
    });
    assert.ok(of("kubernetes:").length > 0);
    assert.deepEqual(found, []);
  });

  for (const version of openstackPluginVersions)
    it(`match names and types of the OpenStack plugin ${version}`, async () => {
      const schema = schemaOf(version);
      const sent = of("openstack:", await made(version));
      const found = sent.flatMap(({ type, name, inputs }) => {
        const declared = schema.resources[type]?.inputs;
        if (!declared) return [`${type} ${name}: the whole type`];
        return objectMisfits(`${type} ${name}`, inputs, declared, schema.types);
      });
      assert.ok(sent.length > 0);
      assert.deepEqual(found, []);
    });
});

describe("functions of the OpenStack plugin that the program calls", () => {
  // The test uses version 5.5.1, because the schema of version 3.15.2 lacks some of these
  // functions.
  it("match names and types of version 5.5.1", async () => {
    const { functions } = schemaOf("5.5.1");
    const asked: string[] = [];
    const lookups = Object.entries(cloudAnswers.lookups ?? {}).map(([token, answer]) => {
      const noting = (inputs: Fields): Fields => {
        asked.push(token, ...objectMisfits(token, inputs, functions[token]?.inputs ?? {}));
        return answer(inputs);
      };
      return [token, noting] as const;
    });
    const answers = { ...cloudAnswers, lookups: Object.fromEntries(lookups) };
    await graph(() => new Cluster("dev", smallest), answers);
    assert.ok(asked.length > 0);
    assert.deepEqual(
      asked.filter((one) => !(one in functions)),
      [],
    );
  });
});

describe("comparison with a schema", () => {
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
    it(`reports ${expected.join() || "nothing"} for ${JSON.stringify(inputs)}`, () => {
      assert.deepEqual(objectMisfits("it", inputs, declared), expected);
    });
  }
});
