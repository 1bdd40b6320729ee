import { z } from "zod";
import { outputLineSchema } from "../../../automation/cli/output-schemas.js";
import { generatedPage, sentence } from "./markdown.js";

/** Schema of a field or of a line, with the keywords that are read here. */
interface EventSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, EventSchema>>;
  readonly required?: readonly string[];
  readonly items?: EventSchema;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly allOf?: readonly EventSchema[];
  readonly examples?: readonly object[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, EventSchema>>;
}

/** Largest integer in JavaScript. It is no useful limit of a field. */
const isLimit = (value: number | undefined): boolean => Math.abs(value ?? 0) === 2 ** 53 - 1;

/**
 * Returns the JSON schema of the lines that commands print with `--json`. Further fields are valid,
 * because later releases may add fields.
 */
export const outputLineJsonSchema = (): object => ({
  title: "JSON line of stackadm",
  ...z.toJSONSchema(outputLineSchema, {
    io: "input",
    override: ({ jsonSchema }) => {
      if (isLimit(jsonSchema.minimum)) delete jsonSchema.minimum;
      if (isLimit(jsonSchema.maximum)) delete jsonSchema.maximum;
    },
  }),
});

const definitions = (): Readonly<Record<string, EventSchema>> =>
  (outputLineJsonSchema() as EventSchema).$defs ?? {};

/** Types in the order in which a run prints them. */
const lineTypes = [
  ...["backend", "plan", "locks", "queued", "cluster", "step", "resource", "machine", "log"],
  ...["diagnostic", "done", "result", "error"],
] as const;

const typeOf = (schema: EventSchema): string => {
  if (schema.$ref !== undefined) return "string";
  if (schema.enum) return schema.enum.map((word) => `\`${word}\``).join(", ");
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}s`;
  return schema.type ?? "string";
};

/** Returns the description of a field. A reference to a definition has its description there. */
function descriptionOf(field: EventSchema, defs: ReturnType<typeof definitions>): string {
  if (field.description !== undefined) return field.description;
  const name = field.$ref?.split("/").at(-1) ?? "";
  return defs[name]?.description ?? "";
}

/** Returns the list of a schema's fields. Fields of objects in a field are a nested list. */
function fieldLines(
  schema: EventSchema,
  defs: ReturnType<typeof definitions>,
  indentation = "",
): string[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties)
    .filter(([name]) => indentation !== "" || name !== "type")
    .flatMap(([name, field]) => {
      const optional = required.includes(name) ? "" : ", optional";
      const description = descriptionOf(field, defs);
      const meaning = description === "" ? "" : `: ${sentence(description)}`;
      return [
        `${indentation}- \`${name}\` (${typeOf(field)}${optional})${meaning}`,
        ...fieldLines(field.items ?? field, defs, `${indentation}  `),
      ];
    });
}

function sectionLines(name: string, defs: ReturnType<typeof definitions>): string[] {
  const schema = defs[name];
  if (!schema?.description) throw new Error(`${name}: no schema of a line has this ID.`);
  const [example] = schema.examples ?? [];
  return [
    `## ${name}`,
    "",
    schema.description,
    "",
    ...fieldLines(schema, defs),
    "",
    "```json",
    JSON.stringify(example),
    "```",
    "",
  ];
}

/** Returns the text of docs/reference/events.md, with a heading for each type of line. */
export function eventsPage(): string {
  const defs = definitions();
  const { head = {} } = defs;
  return [
    ...generatedPage(
      "Events",
      "automation/engine/event-schemas.ts` and `automation/cli/output-schemas.ts",
    ),
    "Every line that a command prints with `--json`, by the value of `type`. Programs that call [`stackadm/automation`](../build/automation-api.md) get the events of operations as objects. How to read the lines, and the results of the commands: [JSON lines](../build/events.md).",
    "",
    "[events.schema.json](../events.schema.json) is the JSON schema of a line. Later releases may add fields and types: ignore those that you do not know.",
    "",
    "## Fields of every event",
    "",
    "The operations `up`, `preview`, `refresh`, `destroy` and `unlock` print events. In addition to the fields of its type, every event of an operation has:",
    "",
    ...fieldLines(head, defs),
    "",
    "Work before or after an operation, for example the download of plugins, prints `step` and `diagnostic` with only `at`. Commands without an operation, such as `backup`, print `cluster` with only `stack`. `backend`, `plan`, `locks`, `result` and `error` belong to the command, and have none of these fields unless their type lists them.",
    "",
    ...lineTypes.flatMap((name) => sectionLines(name, defs)),
    "## Related",
    "",
    "- [JSON lines](../build/events.md)",
    "- [Failure codes](failures.md)",
    "- [Steps of the operations](steps.md)",
    "",
  ].join("\n");
}
