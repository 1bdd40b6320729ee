import { supportRows, type SupportRowId } from "./rows/rows.js";

/** Test that has ended or has not begun, as mocha describes it. */
export interface TestOutcome {
  /** Path in the repository. */
  readonly file: string;
  /** Full title, which includes the titles of the enclosing suites. */
  readonly title: string;
  readonly passed: boolean;
  /** Duration in milliseconds, or 0 if the test has not run. */
  readonly milliseconds: number;
}

/** Row of the support matrix that tests have proven. */
export interface ProvenRow {
  readonly row: SupportRowId;
  readonly test: string;
  readonly seconds: number;
}

/**
 * Returns the rows that are proven now that the test `last` has ended. `last` is one of the tests
 * of the row's proof, and all tests of this proof have passed.
 */
export function findProvenRows(
  last: TestOutcome,
  all: readonly TestOutcome[],
): readonly ProvenRow[] {
  return (Object.keys(supportRows) as SupportRowId[]).flatMap((row) => {
    const proof = supportRows[row].proofs?.find(
      ({ file, title = "" }) => last.file === file && last.title.includes(title),
    );
    if (!proof) return [];
    const { file, title = "", link: test = file } = proof;
    const needed = all.filter((one) => one.file === file && one.title.includes(title));
    if (!needed.every(({ passed }) => passed)) return [];
    const sum = needed.reduce((total, { milliseconds }) => total + milliseconds, 0);
    return [{ row, test, seconds: Math.round(sum / 1000) }];
  });
}
