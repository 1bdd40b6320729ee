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

const present: (() => Promise<Setup>)[] = [];

/** Notes the setup on which the tests run from now on; returns what ends that. It is asked when a row is recorded. */
export function noteSetup(setup: () => Promise<Setup>): () => void {
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
export async function recordRowsOf(test: Test, options?: RecordOptions): Promise<void> {
  const last = asSeen(test);
  const proven = last.passed ? provenBy(last, testsAround(test).map(asSeen)) : [];
  const setup = proven.length > 0 && (await present.at(-1)?.());
  if (!setup) return;
  for (const one of proven) if (fits(one.row, setup)) recordEvidence({ ...setup, ...one }, options);
}

/** Records after each test of a run that was asked to. */
export async function recordAfterEach(this: Context): Promise<void> {
  if (this.currentTest) await recordRowsOf(this.currentTest);
}
