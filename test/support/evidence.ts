import { relative } from "node:path";
import type { Context, Suite, Test } from "mocha";
import { packageRoot } from "../../base/paths.js";
import { provenBy, type SeenTest } from "../../tools/evidence/proven.js";
import {
  fits,
  recordEvidence,
  type RecordOptions,
  type Setup,
} from "../../tools/evidence/record.js";

const present: (() => Setup)[] = [];

/** Notes the setup on which the tests run from now on; returns what ends that. It is asked when a row is recorded. */
export function noteSetup(setup: () => Setup): () => void {
  present.push(setup);
  return () => {
    present.splice(present.lastIndexOf(setup), 1);
  };
}

const asSeen = (test: Test): SeenTest => ({
  file: relative(packageRoot(), test.file ?? ""),
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

/** Records the rows that a test completes which just ended. Without a noted setup nothing is known of the run, and nothing is recorded. */
export function recordRowsOf(test: Test, options?: RecordOptions): void {
  const setup = present.at(-1)?.();
  if (!setup) return;
  const { passed, ...seen } = asSeen(test);
  if (!passed) return;
  for (const proven of provenBy({ passed, ...seen }, testsAround(test).map(asSeen)))
    if (fits(proven.row, setup)) recordEvidence({ ...setup, ...proven }, options);
}

/** Records after each test of a run that was asked to. */
export function recordAfterEach(this: Context): void {
  if (this.currentTest) recordRowsOf(this.currentTest);
}
