import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenstackPluginVersion } from "../../../base/versions/openstack-plugin-versions.js";

/**
 * Type of a property: a name, a list of one type, or an object by property. The property `*` stands
 * for every key of a map.
 */
export type Type = string | readonly [Type] | { readonly [property: string]: Type };
export type Types = Readonly<Record<string, Type>>;

/** Resource or function by its properties. */
export interface Shape {
  readonly inputs: Types;
  readonly outputs: Types;
  /** Inputs whose change replaces the resource. */
  readonly replaces: readonly string[];
  readonly secret: readonly string[];
}

/** Schema of Pulumi's OpenStack plugin, without the kinds that a cluster does not need. */
export interface Schema {
  readonly resources: Readonly<Record<string, Shape>>;
  readonly functions: Readonly<Record<string, Shape>>;
  /** Named object types, to which properties refer. */
  readonly types?: Readonly<Record<string, Types>>;
}

/**
 * Returns the schema of a plugin version. The schema of 3.15.2 is official and lacks some
 * functions. The plugin that packages/toolchain/openstack builds prints the schema of 5.5.1. Its
 * names and types are those of the official Python SDK 5.5.1.
 */
export const schemaOf = (version: OpenstackPluginVersion): Schema => {
  const file = join(__dirname, "..", "..", "fixtures", `openstack-schema-${version}.json`);
  return JSON.parse(readFileSync(file, "utf8")) as Schema;
};
