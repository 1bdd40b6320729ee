import { relative } from "node:path";
import type { Context, Suite, Test } from "mocha";
import { getPackageRoot } from "../../base/paths.js";
import { findProvenRows, type TestOutcome } from "../../packages/tools/evidence/proven-rows.js";
import {
  isRowApplicable,
  recordEvidence,
  type RecordEvidenceOptions,
  type TestRunSetup,
} from "../../packages/tools/evidence/record.js";

const present: (() => Promise<TestRunSetup>)[] = [];

/**
 * Registers a function that returns the setup of the following tests. The function is called only
 * when a row is recorded. Returns a function that removes the registration.
 */
export function noteSetup(setup: () => Promise<TestRunSetup>): () => void {
  present.push(setup);
  return () => {
    present.splice(present.lastIndexOf(setup), 1);
  };
}

const asSeen = (test: Test): TestOutcome => ({
  file: relative(getPackageRoot(), test.file ?? ""),
  title: test.fullTitle(),
  passed: test.state === "passed",
  milliseconds: test.duration ?? 0,
});

function testsAround({ parent }: Test): Test[] {
  let root: Suite | undefined = parent;
  while (root?.parent) root = root.parent;
  const tests: Test[] = [];
  root?.eachTest((one) => tests.push(one));
  return tests;
}

/**
 * Records the rows of the support matrix that are proven now that this test has finished. Records
 * nothing if no setup is registered.
 */
export async function recordRowsOf(test: Test, options?: RecordEvidenceOptions): Promise<void> {
  const last = asSeen(test);
  const proven = last.passed ? findProvenRows(last, testsAround(test).map(asSeen)) : [];
  const setup = proven.length > 0 && (await present.at(-1)?.());
  if (!setup) return;
  for (const one of proven)
    if (isRowApplicable(one.row, setup)) recordEvidence({ ...setup, ...one }, options);
}

/** Records evidence after each test. It is a mocha hook only if evidence is enabled. */
export async function recordAfterEach(this: Context): Promise<void> {
  if (this.currentTest) await recordRowsOf(this.currentTest);
}
