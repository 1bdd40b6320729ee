import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { getPackageRoot } from "../../../base/paths.js";
import { pulumiPartOrigins, pulumiParts } from "./row.js";
import { isSupportRow, supportRows, type SupportRowId } from "./rows/rows.js";

const setupShape = z.strictObject({
  machine: z.enum(["container", "kernel"]),
  image: z.string().min(1),
  overrides: z.array(z.string()),
  plugins: z.record(z.enum(pulumiParts), z.enum(pulumiPartOrigins)),
  octavia: z.string().optional(),
});

const recordShape = setupShape.extend({
  row: z.string().refine(isSupportRow, "there is no such row in packages/tools/evidence/rows"),
  test: z.string().optional(),
  seconds: z.number().nonnegative(),
  commit: z.string().min(1),
  at: z.iso.datetime(),
});

/** Properties of a test run that can affect the result. */
export interface TestRunSetup {
  /**
   * Kind of machines. `container`: the machines share the host's kernel. `kernel`: each machine has
   * its own kernel, emulated, accelerated or on bare metal.
   */
  readonly machine: "container" | "kernel";
  /** Name of the machines' image in the cloud, such as `debian-12`. */
  readonly image: string;
  /** Settings that replace defaults, such as `kubernetes.registry`. Empty if there are none. */
  readonly overrides: readonly string[];
  /** Origin of each part of Pulumi: official, built or stand-in. */
  readonly plugins: z.infer<typeof setupShape>["plugins"];
  /** Octavia driver of the load balancers. Default: there were no load balancers. */
  readonly octavia?: string | undefined;
}

/** Row whose tests have passed, with the setup of their run. */
export interface Evidence extends TestRunSetup {
  readonly row: SupportRowId;
  /** Duration of the row's tests in seconds. */
  readonly seconds: number;
  /** Path of the test in the repository. Default: the files of the row's proofs. */
  readonly test?: string | undefined;
}

/** Evidence with its date and commit. */
export interface EvidenceRecord extends Evidence {
  /**
   * Abbreviated commit of the checkout. Ends with `-dirty` if the checkout had uncommitted changes.
   * Changes to the records file and to the page of the support matrix do not count.
   */
  readonly commit: string;
  /** Time of the record, in UTC, ISO 8601. */
  readonly at: string;
}

/**
 * Environment variable that makes tests write records. By default, tests write no records, so that
 * usual test runs do not change the checkout.
 */
export const evidenceVariable = "STACKADM_EVIDENCE";

const [evidencePath, pagePath] = ["docs/evidence.jsonl", "docs/reference/support-matrix.md"];

/** Returns the path of the file with all records, one JSON line each. */
export const getEvidenceFile = (root = getPackageRoot()): string => join(root, evidencePath);

/**
 * Returns the commit of a checkout as a record contains it. Ignores changes of the records file and
 * of the page.
 */
export function getCheckoutCommit(root: string): string {
  const git = (...words: string[]): string =>
    execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const own = [evidencePath, pagePath].map((path) => `:(exclude,top)${path}`);
  const changed = git("status", "--porcelain", "--", ":(top)", ...own);
  return `${git("rev-parse", "--short=7", "HEAD")}${changed === "" ? "" : "-dirty"}`;
}

/**
 * Returns whether the row applies to the setup: the row's image and plugin are those of the setup.
 */
export function isRowApplicable(row: SupportRowId, { image, plugins }: TestRunSetup): boolean {
  const { image: wanted = "", plugin } = supportRows[row];
  return image.startsWith(wanted) && (!plugin || plugins[plugin.name] === plugin.origin);
}

export interface RecordEvidenceOptions {
  /** Directory of the checkout. Default: this one. */
  readonly root?: string;
  /** Environment variables. Default: the variables of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Current time. Default: the time of the clock. */
  readonly now?: Date;
}

/**
 * Appends a record if STACKADM_EVIDENCE is 1. Returns whether a record was appended. Throws if the
 * row does not apply to this setup, because the test is then wrong.
 */
export function recordEvidence(
  evidence: Evidence,
  { root = getPackageRoot(), env = process.env, now = new Date() }: RecordEvidenceOptions = {},
): boolean {
  if (!isRowApplicable(evidence.row, evidence))
    throw new Error(`${evidence.row} cannot be shown with ${JSON.stringify(evidence)}`);
  if (env[evidenceVariable] !== "1") return false;
  const record = { at: now.toISOString(), commit: getCheckoutCommit(root), ...evidence };
  const line = JSON.stringify(recordShape.parse(record));
  appendFileSync(getEvidenceFile(root), `${line}\n`);
  return true;
}

/**
 * Returns all records, the oldest record first. If a line is not a record, throws an error with the
 * line's number.
 */
export function readEvidence(file = getEvidenceFile()): readonly EvidenceRecord[] {
  if (!existsSync(file)) return [];
  const records = readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) => (line === "" ? [] : [parsed(line, `${file}:${index + 1}`)]));
  return records.toSorted((one, other) => one.at.localeCompare(other.at));
}

function parsed(line: string, where: string): EvidenceRecord {
  try {
    return recordShape.parse(JSON.parse(line));
  } catch (error) {
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
