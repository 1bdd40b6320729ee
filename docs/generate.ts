import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { z } from "zod";
import { failureCodes, getFailureRow } from "../base/failures/failure-codes.js";
import { clusterFieldsSchema } from "../components/config/cluster-spec.js";
import { changeEffects } from "../components/schema/fields.js";
import { destroyOperation } from "../automation/operations/destroy.js";
import { forceDestroyOperation } from "../automation/operations/force-destroy.js";
import { refreshOperation } from "../automation/operations/refresh.js";
import { unlockOperation } from "../automation/operations/unlock.js";
import { upOperation } from "../automation/operations/up.js";
import type { Operation } from "../automation/steps/step.js";
import { renderEvidencePage } from "../packages/tools/evidence/page.js";
import { readEvidence } from "../packages/tools/evidence/record.js";
import { supportSections } from "../packages/tools/evidence/rows/rows.js";

/*
 * Writes docs/configuration.md and docs/config.schema.json from the schema, docs/failures.md from
 * the table of failures, docs/steps.md from the operations, and docs/support-matrix.md from the records that tests wrote. With
 * `--check`, writes nothing and fails if a file is outdated.
 */

/** JSON schema, with the keywords that are read here. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly change?: string;
  readonly otherwise?: string;
  /** Meaning of the keys of a map of objects, such as `pool`. */
  readonly entries?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  /** Members of a union, distinguished by `kind`. */
  readonly oneOf?: readonly Schema[];
}

export interface Leaf {
  /** Path of the value: `workers.<pool>.count`. */
  readonly path: string;
  readonly description: string;
  readonly change: string;
  readonly default: string;
}

const isObject = (schema: Schema): boolean => schema.properties !== undefined;

const keyed = (schema: Schema): Schema | undefined =>
  typeof schema.additionalProperties === "object" && isObject(schema.additionalProperties)
    ? schema.additionalProperties
    : undefined;

const listed = (schema: Schema): Schema | undefined =>
  schema.items && isObject(schema.items) ? schema.items : undefined;

const defaultOf = (schema: Schema, required: boolean): string => {
  if (schema.otherwise !== undefined) return schema.otherwise;
  if (schema.default !== undefined) return `\`${JSON.stringify(schema.default)}\``;
  return required ? "**required**" : "none";
};

const leaf = (schema: Schema, path: string, required: boolean): Leaf => {
  const { description, change } = schema;
  if (description === undefined || !(changeEffects as readonly string[]).includes(change ?? ""))
    throw new Error(`${path}: the schema has no documentation for it`);
  return { path, description, change: change ?? "", default: defaultOf(schema, required) };
};

/** Returns every value that can be set, in the order of the schema. */
export function leaves(schema: Schema, path = "", required = true): readonly Leaf[] {
  const [inKeys, inList] = [keyed(schema), listed(schema)];
  if (schema.oneOf) return leavesOfUnion(schema, schema.oneOf, path);
  // A value can be required within an entry, even if no entry is required.
  const keys = schema.entries ?? (path === "workers" ? "pool" : "name");
  if (inKeys) return leaves(inKeys, `${path}.<${keys}>`);
  if (inList) return leaves(inList, `${path}[]`, false);
  if (!schema.properties) return [leaf(schema, path, required)];
  return Object.entries(schema.properties).flatMap(([key, value]) =>
    leaves(
      value,
      path === "" ? key : `${path}.${key}`,
      required && !!schema.required?.includes(key),
    ),
  );
}

/**
 * Returns the kind first, then the values of all members; a value that several members have is
 * listed once.
 */
function leavesOfUnion(union: Schema, members: readonly Schema[], path: string): readonly Leaf[] {
  const { kind } = { kind: undefined, ...(union.default as object | undefined) };
  const others = members
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([key]) => key !== "kind");
  return [
    leaf({ ...union, default: kind }, `${path}.kind`, true),
    ...[...new Map(others)].flatMap(([key, value]) => leaves(value, `${path}.${key}`, false)),
  ];
}

const meanings = {
  "in place": "the next `up` applies it; nothing restarts",
  "restarts kubelet":
    "the next `up` applies it on every machine, one after another; pods go on, and a machine whose kubelet does not come up gets the former value back",
  "restarts control plane":
    "the next `up` applies it on one control plane after another; connections to that machine's API drop for a moment, and a component that does not come up gets its former flags and patches back",
  "replaces nodes":
    "takes effect when the `generation` of the machines is raised, which replaces them",
  refused: "a living cluster keeps its value; preview and `up` say so before anything changes",
} as const satisfies Record<(typeof changeEffects)[number], string>;

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Returns the text of docs/configuration.md. */
export function page(all: readonly Leaf[]): string {
  const used = changeEffects.filter((change) => all.some((one) => one.change === change));
  return [
    "# Configuration",
    "",
    "Written by `npm run docs` from `components/config/cluster-spec.ts`; do not edit.",
    "",
    "All of it is one object, `stackadm:cluster` in `Pulumi.<stack>.yaml` or the argument of `new Cluster`. It is checked as a whole before anything is made: every problem is listed, with its path and with what to write. `Pulumi.dev.yaml` is a commented example. Values that hold for a whole site (package repository, registry) can be kept in a file of their own, named by the variable `STACKADM_SITE`; a stack's values win over it ([what it looks like](operations.md#the-defaults-of-a-site)). Passwords and other secrets are refused in clear: [how they are written](operations.md#encrypted-settings).",
    "",
    "What changing a value does to a cluster that exists:",
    "",
    ...used.map((change) => `- *${change}*: ${meanings[change]}.`),
    "",
    row(["Key", "Meaning", "Default", "Change"]),
    row(["---", "---", "---", "---"]),
    ...all.map((one) => row([`\`${one.path}\``, one.description, one.default, one.change])),
    "",
  ].join("\n");
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Returns the text of docs/failures.md. */
export const failuresPage = (): string =>
  [
    "# Failures",
    "",
    "Written by `npm run docs` from `base/failures/failure-codes.ts`; do not edit.",
    "",
    'Every failure is a sentence, a hint and one of these codes; codes and exit codes stay what they are from release to release. With `--json` ([json.md](json.md)) the last line is `{"type":"error","code":...,"message":...,"hint":...}`, with `urn` and `resource` where one resource is at fault. The Automation API throws a `ClusterError` with `code`, `sentence`, `hint`, `exitCode` and `subject`; an event of type `diagnostic` has a `code` if the program itself knew what failed. Plain `pulumi up` shows the code in brackets before the sentence.',
    "",
    row(["Code", "Exit", "What it means", "What to do"]),
    row(["---", "---", "---", "---"]),
    ...failureCodes.map((code) => {
      const { exitCode, sentence: text, hint } = getFailureRow(code);
      return row([`\`${code}\``, String(exitCode), sentence(text), hint]);
    }),
    "",
  ].join("\n");

/** Returns the steps of an operation as table rows. */
const stepRows = ({ steps }: Pick<Operation<never, unknown>, "steps">): string[] =>
  steps.map((step, index) =>
    row([
      String(index + 1),
      step.title,
      "detect" in step ? "if there is anything to do" : "always",
      "describe" in step ? "yes" : "",
    ]),
  );

/** Returns the text of docs/steps.md. */
export const stepsPage = (): string =>
  [
    "# Steps of the operations",
    "",
    "Written by `npm run docs` from `automation/operations/`; do not edit.",
    "",
    "An operation checks its guards first (lock, project, identity, protection) and then runs these steps in order. `preview` and `up --expect-no-changes` show the steps of `up` marked as planned, the plan before a `destroy` those of `destroy`, and change nothing.",
    ...[
      ["`up`, `dev`", upOperation],
      ["`refresh`", refreshOperation],
      ["`destroy`", destroyOperation],
      ["`destroy --abandon`", forceDestroyOperation],
      ["`unlock`", unlockOperation],
    ].flatMap(([name, operation]) => [
      "",
      `## ${name as string}`,
      "",
      row(["", "Step", "Runs", "Planned"]),
      row(["---", "---", "---", "---"]),
      ...stepRows(operation as Operation<never, unknown>),
    ]),
    "",
  ].join("\n");

/** Returns the JSON schema for editors. */
export const jsonSchema = (): Schema =>
  z.toJSONSchema(clusterFieldsSchema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema: made }) => {
      if (made["word"] !== true) return;
      delete made["word"];
      const kinds = (made.oneOf as Schema[]).map(({ properties }) => properties?.["kind"]?.const);
      made.oneOf?.push({ type: "string", enum: kinds as string[] });
    },
  }) as Schema;

async function formatted(text: string, file: string): Promise<string> {
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

async function main(check: boolean): Promise<void> {
  const schema = jsonSchema();
  const files = [
    ["configuration.md", page(leaves(schema))],
    ["config.schema.json", JSON.stringify(schema)],
    ["failures.md", failuresPage()],
    ["steps.md", stepsPage()],
    ["support-matrix.md", renderEvidencePage(supportSections, readEvidence())],
  ] as const;
  for (const [name, text] of files) {
    const file = join(__dirname, name);
    const wanted = await formatted(text, file);
    if (!check) writeFileSync(file, wanted);
    else if (readFileSync(file, "utf8") !== wanted)
      throw new Error(`docs/${name} is stale; run npm run docs`);
  }
}

if (require.main === module) {
  main(process.argv.includes("--check")).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
