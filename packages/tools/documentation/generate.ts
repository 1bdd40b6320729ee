import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format, resolveConfig } from "prettier";
import { getPackageRoot } from "../../../base/paths.js";
import { readRecords } from "../../bench/support/records.js";
import { renderEvidencePage } from "../evidence/page.js";
import { readEvidence } from "../evidence/record.js";
import { supportSections } from "../evidence/rows/rows.js";
import { commandsPage } from "./command-page.js";
import { jsonSchema } from "../../../components/config/json-schema.js";
import { leaves, stackFileSchema } from "./config-schema.js";
import { configurationPages } from "./configuration-pages.js";
import { environmentPage } from "./environment-page.js";
import { eventsPage, outputLineJsonSchema } from "./event-page.js";
import { failuresPage } from "./failure-page.js";
import { insertNumbers, performanceChart, performancePage } from "./performance-page.js";
import { listPictures } from "./pictures/list-pictures.js";
import { reliabilityPage } from "./reliability-page.js";
import { stepsPage } from "./step-page.js";
import { waitsPage } from "./waits/waits-page.js";

/*
 * Writes the generated pages below docs/reference, the JSON schemas in docs, the pictures in
 * docs/pictures, and the numbers in the README of the benchmarks. With `--check`, writes nothing and
 * fails if a file is outdated.
 */

const docs = join(getPackageRoot(), "docs");

/** README of the benchmarks, which is generated in part. */
const benchReadme = join("..", "packages", "bench", "README.md");

/** Returns the files with the numbers of the benchmarks. */
function performanceFiles(): readonly (readonly [string, string])[] {
  const records = readRecords();
  return [
    [join("reference", "performance.md"), performancePage(records)],
    [join("reference", "performance.svg"), performanceChart(records)],
    [benchReadme, insertNumbers(readFileSync(join(docs, benchReadme), "utf8"), records)],
  ];
}

/** Generated file. */
interface GeneratedFile {
  /** Path relative to `docs`. */
  readonly name: string;
  readonly render: () => Promise<string>;
}

/** Returns the generated pages and the schema, with their texts. */
function generatedPages(): readonly (readonly [string, string])[] {
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
    ...performanceFiles(),
    [join("reference", "reliability.md"), reliabilityPage()],
    [join("reference", "steps.md"), stepsPage()],
    [join("reference", "support-matrix.md"), renderEvidencePage(supportSections, readEvidence())],
    [join("reference", "waits.md"), waitsPage()],
  ];
}

/** Returns the generated files. The pictures come last, because they take the longest. */
const generatedFiles = (): readonly GeneratedFile[] => [
  ...generatedPages().map(([name, text]) => ({
    name,
    render: () => formatted(text, join(docs, name)),
  })),
  ...listPictures().map(({ file, draw }) => ({ name: join("pictures", file), render: draw })),
];

/** Returns the text as prettier writes it. Prettier does not know SVG. */
async function formatted(text: string, file: string): Promise<string> {
  if (file.endsWith(".svg")) return text;
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
  for (const { name, render } of generatedFiles()) {
    const file = join(docs, name);
    const wanted = await render();
    if (currentText(file) === wanted) continue;
    if (check) throw new Error(`${join("docs", name)} is stale; run npm run docs`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted);
  }
}

main(process.argv.includes("--check")).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
