import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PulumiOpenstackVersion } from "../../../base/versions/pulumi-openstack-versions.js";

/**
 * Type of a property: the name of a type, a list of one type, or an object that maps a property to
 * its type. The property `*` means all keys of a map.
 */
export type Type = string | readonly [Type] | { readonly [property: string]: Type };
export type Types = Readonly<Record<string, Type>>;

/** Properties of a resource or of a function. */
export interface Shape {
  readonly inputs: Types;
  readonly outputs: Types;
  /** Inputs whose change replaces the resource. */
  readonly replaces: readonly string[];
  readonly secret: readonly string[];
}

/**
 * Schema of Pulumi's OpenStack plugin. It contains only resources and functions that a cluster may
 * need.
 */
export interface Schema {
  readonly resources: Readonly<Record<string, Shape>>;
  readonly functions: Readonly<Record<string, Shape>>;
  /** Named object types, to which properties refer. */
  readonly types?: Readonly<Record<string, Types>>;
}

/**
 * Returns the schema of a plugin version. The schema of 3.15.2 is official and lacks some
 * functions. The schema of 5.5.1 is the output of the plugin that packages/toolchain/openstack
 * builds. Its names and types are equal to those of the official Python SDK 5.5.1.
 */
export const schemaOf = (version: PulumiOpenstackVersion): Schema => {
  const file = join(__dirname, "..", "..", "fixtures", `openstack-schema-${version}.json`);
  return JSON.parse(readFileSync(file, "utf8")) as Schema;
};
