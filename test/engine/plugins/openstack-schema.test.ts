import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import type { PulumiOpenstackVersion } from "../../../base/versions/pulumi-openstack-versions.js";
import {
  schemaOf,
  type Schema,
  type Shape,
  type Type,
  type Types,
} from "../../support/cloud/openstack-schemas.js";
import { builtPlugin } from "../support/openstack-plugins.js";

const official = schemaOf("3.15.2");

/**
 * Returns the type with all named object types replaced by their fields, in the format of
 * `--describe`.
 */
function inline(type: Type): Type {
  if (typeof type === "object")
    return Array.isArray(type) ? [inline((type as readonly [Type])[0])] : inlineAll(type as Types);
  if (type === "pulumi.json#/Any") return "any";
  const named = official.types?.[type];
  return named ? inlineAll(named) : type;
}

function inlineAll(types: Types): Types {
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, inline(type)]));
}

const described = async (version: PulumiOpenstackVersion): Promise<Schema> =>
  JSON.parse(execFileSync(await builtPlugin(version), ["--describe"]).toString()) as Schema;

describe("the locally built OpenStack plugin 3.15.2", () => {
  let built: Readonly<Record<string, Shape>>;
  before(async function () {
    this.timeout(10 * 60_000);
    built = (await described("3.15.2")).resources;
  });

  for (const [token, shape] of Object.entries(official.resources)) {
    it(`has the official properties, types, replacements and secrets of ${token}`, () => {
      const ours = built[token];
      assert.ok(ours, "not bridged");
      assert.deepEqual(ours.inputs, inlineAll(shape.inputs));
      assert.deepEqual(ours.outputs, inlineAll(shape.outputs));
      assert.deepEqual(ours.replaces, [...shape.replaces].sort());
      assert.deepEqual(ours.secret, [...shape.secret].sort());
    });
  }
});

describe("the locally built OpenStack plugin 5.5.1", function () {
  this.timeout(10 * 60_000);

  it("has the schema of the fixture", async () => {
    assert.deepEqual(await described("5.5.1"), schemaOf("5.5.1"));
  });
});
