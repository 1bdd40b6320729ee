import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format, resolveConfig } from "prettier";
import { getPackageRoot } from "../../../base/paths.js";
import { renderEvidencePage } from "../evidence/page.js";
import { readEvidence } from "../evidence/record.js";
import { supportSections } from "../evidence/rows/rows.js";
import { commandsPage } from "./command-page.js";
import { jsonSchema, leaves, stackFileSchema } from "./config-schema.js";
import { configurationPages } from "./configuration-pages.js";
import { environmentPage } from "./environment-page.js";
import { eventsPage, outputLineJsonSchema } from "./event-page.js";
import { failuresPage } from "./failure-page.js";
import { stepsPage } from "./step-page.js";

/*
 * Writes the generated pages below docs/reference and the JSON schemas in docs. With `--check`,
 * writes nothing and fails if a file is outdated.
 */

const docs = join(getPackageRoot(), "docs");

/** Returns the generated files with their texts. Paths are relative to `docs`. */
function generatedFiles(): readonly (readonly [string, string])[] {
  return [
    ...configurationPages(leaves(jsonSchema())).map(
      ([file, text]) => [join("reference", "configuration", file), text] as const,
    ),
    ["config.schema.json", JSON.stringify(stackFileSchema())],
    ["events.schema.json", JSON.stringify(outputLineJsonSchema())],
    [join("reference", "commands.md"), commandsPage()],
    [join("reference", "environment.md"), environmentPage()],
    [join("reference", "events.md"), eventsPage()],
    [join("reference", "failures.md"), failuresPage()],
    [join("reference", "steps.md"), stepsPage()],
    [join("reference", "support-matrix.md"), renderEvidencePage(supportSections, readEvidence())],
  ];
}

async function formatted(text: string, file: string): Promise<string> {
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

const currentText = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

async function main(check: boolean): Promise<void> {
  for (const [name, text] of generatedFiles()) {
    const file = join(docs, name);
    const wanted = await formatted(text, file);
    if (currentText(file) === wanted) continue;
    if (check) throw new Error(`docs/${name} is stale; run npm run docs`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted);
  }
}

main(process.argv.includes("--check")).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
