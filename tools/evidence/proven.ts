import { rows, type RowId } from "./rows/rows.js";

/** A test as its runner knows it after it ended or before it began. */
export interface SeenTest {
  /** Path in the repository. */
  readonly file: string;
  /** The title with those of the suites around it. */
  readonly title: string;
  readonly passed: boolean;
  /** Milliseconds; 0 where it did not run. */
  readonly milliseconds: number;
}

/** A row that tests have shown. */
export interface Proven {
  readonly row: RowId;
  readonly test: string;
  readonly seconds: number;
}

/** Returns the rows that `last`, which just ended, completes: all tests of a proof have passed, and it is one of them. */
export function provenBy(last: SeenTest, all: readonly SeenTest[]): readonly Proven[] {
  return (Object.keys(rows) as RowId[]).flatMap((row) => {
    const proof = rows[row].proofs?.find(
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
