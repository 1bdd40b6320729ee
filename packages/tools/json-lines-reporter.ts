import { inspect } from "node:util";
import { basename } from "node:path";
import { Runner, type Suite, type Test } from "mocha";

/**
 * Prefix of each line of the reporter. It distinguishes these lines from the output of the tests.
 */
export const reporterLinePrefix = "\u0001";

/** Writes one line. The command that started mocha reads this line. */
export const writeReporterLine = (fields: Readonly<Record<string, unknown>>): void => {
  process.stdout.write(`${reporterLinePrefix}${JSON.stringify(fields)}\n`);
};

interface Failed extends Error {
  readonly expected?: unknown;
  readonly actual?: unknown;
}

const text = (value: unknown): string =>
  typeof value === "string" ? value : inspect(value, { depth: 8 });

function messageOf({ message, stack, expected, actual }: Failed): string {
  const compared = expected !== undefined || actual !== undefined;
  const difference = compared ? `expected: ${text(expected)}\nactual:   ${text(actual)}` : "";
  return [message, stack ?? "", difference].filter((part) => part !== "").join("\n");
}

/**
 * Mocha reporter that writes one JSON object per line, so that the command that started mocha can
 * show the progress.
 */
class LineReporter {
  constructor(runner: Runner) {
    this.listen(runner);
  }

  private listen(runner: Runner): void {
    const events = Runner.constants;
    let since = Date.now();
    runner.on(events.EVENT_SUITE_BEGIN, ({ root }: Suite) => {
      if (root) since = Date.now();
    });
    runner.on(events.EVENT_SUITE_END, ({ parent, file }: Suite) => {
      if (parent?.root !== true || file === undefined) return;
      const now = Date.now();
      writeReporterLine({ type: "file", file: basename(file), milliseconds: now - since });
      since = now;
    });
    runner.on(events.EVENT_TEST_BEGIN, (test: Test) => {
      writeReporterLine({ type: "begin", title: test.fullTitle() });
    });
    runner.on(events.EVENT_TEST_PASS, (test: Test) => {
      writeReporterLine({ type: "pass", title: test.fullTitle() });
    });
    runner.on(events.EVENT_TEST_FAIL, (test: Test, error: Failed) => {
      writeReporterLine({ type: "fail", title: test.fullTitle(), message: messageOf(error) });
    });
    runner.on(events.EVENT_TEST_PENDING, (test: Test) => {
      const message = "skipped: a test that does not run proves nothing";
      writeReporterLine({ type: "fail", title: test.fullTitle(), message });
    });
    runner.on(events.EVENT_RUN_END, () => {
      writeReporterLine({ type: "end" });
    });
  }
}

// Mocha loads a reporter from the module's default export.
export default LineReporter;
