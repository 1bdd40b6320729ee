import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { outputLineSchema } from "../../../../../automation/cli/output-schemas.js";
import { getPackageRoot } from "../../../../../base/paths.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";
import { eventsPage } from "../../../documentation/event-page.js";

const root = getPackageRoot();
const head = { v: 1, operation: "id", n: 1, at: "2026-01-02T03:04:05.000Z", stack: "prod" };
/** Types of lines that belong to the command, not to an operation. */
const commandLines = ["backend", "plan", "locks", "result", "error"];

interface LineDefinition {
  readonly properties?: { readonly type?: { readonly const?: string } };
  readonly examples?: readonly object[];
}

const schema = JSON.parse(readFileSync(join(root, "docs", "events.schema.json"), "utf8")) as {
  readonly $defs: Readonly<Record<string, LineDefinition>>;
};
const definitions = Object.entries(schema.$defs).filter(
  ([name, { properties }]) => properties?.type?.const === name,
);
const examples = definitions.flatMap(([name, { examples: [example = {}] = [] }]) =>
  commandLines.includes(name) ? [example] : [{ ...head, ...example }],
);

describe("docs/events.schema.json", () => {
  const validator = new Ajv2020({ allErrors: true });
  const validate = validator.compile(schema);
  const problems = (line: unknown): string =>
    validate(line) ? "" : `${JSON.stringify(line)}: ${validator.errorsText(validate.errors)}`;

  it("is valid according to its metaschema", () => {
    assert.ok(validator.validateSchema(schema), JSON.stringify(validator.errors));
  });

  it("accepts the example of each type, which has no undocumented field", () => {
    for (const example of nonEmpty(examples)) {
      assert.equal(problems(example), "");
      assert.deepEqual(outputLineSchema.parse(example), example);
    }
  });

  it("accepts every recorded line of the golden files", () => {
    const folder = join(root, "test", "golden", "cli");
    const files = nonEmpty(readdirSync(folder).filter((name) => name.endsWith(".jsonl")));
    const lines = files.flatMap((name) =>
      readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean),
    );
    assert.deepEqual(
      nonEmpty(lines)
        .map((line) => problems(JSON.parse(line)))
        .filter(Boolean),
      [],
    );
  });

  it("accepts fields of later releases", () => {
    assert.equal(problems({ ...head, type: "done", ok: true, more: 1 }), "");
  });

  it("refuses a line without a type, an event without its head, and a wrong value", () => {
    for (const line of [
      { ...head, ok: true },
      { type: "queued", name: "up", behind: 0 },
      { ...head, type: "queued", name: "up", behind: "none" },
      { type: "error", code: "UNKNOWN", message: "m", hint: "h" },
    ])
      assert.notEqual(problems(line), "", JSON.stringify(line));
  });
});

describe("eventsPage", () => {
  it("has a heading and an example for each type in the schema", () => {
    const page = eventsPage();
    assert.equal(definitions.length, 13);
    for (const [name, { examples: [example] = [] }] of definitions) {
      const [, section = ""] = page.split(`\n## ${name}\n`);
      assert.ok(section.split("\n## ")[0]?.includes(JSON.stringify(example)), name);
    }
  });

  it("marks optional fields, and lists the fields of objects below the object", () => {
    const [, done = ""] = eventsPage().split("\n## done\n");
    assert.match(done, /^- `ok` \(boolean\): Whether the operation succeeded\.$/m);
    assert.match(
      done,
      /^- `error` \(object, optional\): .*\n {2}- `code` \(string\): \[Failure code\]\(failures\.md\)\.$/m,
    );
  });
});
