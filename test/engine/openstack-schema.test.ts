import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenstackPlugin } from "../../base/openstack-plugins.js";
import { builtPlugin } from "./support/openstack-plugins.js";

type Type = string | Type[] | { [property: string]: Type };
interface Shape {
  readonly inputs: Record<string, Type>;
  readonly outputs: Record<string, Type>;
  readonly replaces: string[];
  readonly secret: string[];
}
interface Schema {
  readonly resources: Record<string, Shape>;
  readonly types: Record<string, Record<string, Type>>;
}

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(join(__dirname, "..", "fixtures", name), "utf8"));
const official = fixture("openstack-schema-3.15.2.json") as Schema;

/** Named object types inline, as the bridge describes them. */
function inline(type: Type): Type {
  if (Array.isArray(type)) return type.map(inline);
  if (typeof type === "object") return inlineAll(type);
  if (type === "pulumi.json#/Any") return "any";
  const named = official.types[type];
  return named ? inlineAll(named) : type;
}

function inlineAll(types: Record<string, Type>): Record<string, Type> {
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, inline(type)]));
}

const described = async (version: OpenstackPlugin): Promise<Pick<Schema, "resources">> =>
  JSON.parse(execFileSync(await builtPlugin(version), ["--describe"]).toString()) as Pick<
    Schema,
    "resources"
  >;

describe("the OpenStack plugin 3.15.2 that is built here", () => {
  let built: Record<string, Shape>;
  before(async function () {
    this.timeout(10 * 60_000);
    built = (await described("3.15.2")).resources;
  });

  for (const [token, shape] of Object.entries(official.resources)) {
    it(`has the properties, types, replacements and secrets of ${token}`, () => {
      const ours = built[token];
      assert.ok(ours, "not bridged");
      assert.deepEqual(ours.inputs, inlineAll(shape.inputs));
      assert.deepEqual(ours.outputs, inlineAll(shape.outputs));
      assert.deepEqual(ours.replaces, [...shape.replaces].sort());
      assert.deepEqual(ours.secret, [...shape.secret].sort());
    });
  }
});

describe("the OpenStack plugin 5.5.1 that is built here", function () {
  this.timeout(10 * 60_000);

  it("is described by its fixture, with which the program is compared", async () => {
    const { note, ...kept } = fixture("openstack-schema-5.5.1-built.json") as { note: string };
    assert.deepEqual(await described("5.5.1"), kept, note);
  });
});
