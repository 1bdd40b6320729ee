import { z } from "zod";
import type { OutputUse } from "../schema/fields.js";
import { clusterFieldsSchema } from "./cluster-spec.js";

/** JSON schema, with the keywords that are read here. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly change?: string;
  /**
   * How a program may pass an output. With `value`, the output is secret. Absent: the value must be
   * known.
   */
  readonly acceptsOutput?: OutputUse;
  readonly otherwise?: string;
  /** Name of the type in programs of other languages, instead of the name by path. */
  readonly typeName?: string;
  /** Meaning of the keys of a map of objects, such as `pool`. */
  readonly entries?: string;
  readonly default?: unknown;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  /** Members of a union, distinguished by `kind`. */
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

/** Returns the JSON schema of the arguments of a cluster. */
export const jsonSchema = (): Schema =>
  z.toJSONSchema(clusterFieldsSchema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema: made }) => {
      // JSON has no infinity.
      if (made.maxLength === Infinity) delete made.maxLength;
      if (made["word"] !== true) return;
      delete made["word"];
      const kinds = (made.oneOf as Schema[]).map(({ properties }) => properties?.["kind"]?.const);
      made.oneOf?.push({ type: "string", enum: kinds as string[] });
    },
  }) as Schema;
