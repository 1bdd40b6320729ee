import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "../../base/paths.js";
import { silent } from "../../base/progress.js";
import { openstackBuild } from "../../toolchain/toolchain.js";
import { makeWithGo } from "../../toolchain/make.js";

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

const fixture = join(__dirname, "..", "fixtures", "openstack-schema-3.15.2.json");
const official = JSON.parse(readFileSync(fixture, "utf8")) as Schema;

/** Replaces the names of object types by the types themselves, as the bridge describes them. */
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

describe("the OpenStack plugin that is built here", () => {
  let built: Record<string, Shape>;
  before(async function () {
    this.timeout(10 * 60_000);
    const plugin = await makeWithGo(openstackBuild, {
      cache: cacheDirectory("toolchain"),
      progress: silent,
    });
    built = JSON.parse(execFileSync(plugin, ["--describe"]).toString()) as Record<string, Shape>;
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
