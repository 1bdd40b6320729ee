import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { reporterLinePrefix } from "./json-lines-reporter.js";

export interface TestFailure {
  readonly title: string;
  readonly message: string;
}

/** Point that an example must fulfil, and the observation. */
export interface ExampleEvidence {
  readonly example: string;
  readonly point: string;
  readonly seen: string;
}

/** Duration of a test file, including its setup and cleanup. */
export interface TestFileDuration {
  readonly file: string;
  readonly milliseconds: number;
}

export interface TierResult {
  readonly passed: number;
  readonly failures: readonly TestFailure[];
  /** Durations in the order in which the files ended. Undefined if mocha reported no duration. */
  readonly times?: readonly TestFileDuration[];
  /** Evidence in the order of the observations. Undefined if there is none. */
  readonly evidence?: readonly ExampleEvidence[];
}

const lineSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.enum(["begin", "pass", "fail", "end"]),
    title: z.string().default(""),
    message: z.string().default(""),
  }),
  z.object({ type: z.literal("file"), file: z.string(), milliseconds: z.number() }),
  z.object({
    type: z.literal("evidence"),
    example: z.string(),
    point: z.string(),
    seen: z.string(),
  }),
]);

/** Number of output lines that are shown if mocha crashes. */
const kept = 40;

/**
 * Reads the lines of the reporter from a running mocha process until it exits. If mocha exits
 * without the reporter's last line, this counts as a failure.
 */
export async function readTestResults(
  tier: string,
  child: ChildProcess,
  onBegin: (title: string) => void,
): Promise<TierResult> {
  const state = { passed: 0, ended: false, current: "" };
  const failures: TestFailure[] = [];
  const evidence: ExampleEvidence[] = [];
  const times: TestFileDuration[] = [];
  const noise: string[] = [];
  const take = (line: string): void => {
    const position = line.indexOf(reporterLinePrefix);
    if (position < 0) {
      noise.push(line);
      return;
    }
    const said = lineSchema.parse(JSON.parse(line.slice(position + 1)));
    if (said.type === "evidence") {
      const { example, point, seen } = said;
      evidence.push({ example, point, seen });
      return;
    }
    if (said.type === "file") {
      const { file, milliseconds } = said;
      times.push({ file, milliseconds });
      return;
    }
    const { type, title, message } = said;
    if (type === "begin") onBegin((state.current = title));
    else if (type === "pass") state.passed += 1;
    else if (type === "fail") failures.push({ title: `${tier}: ${title}`, message });
    else state.ended = true;
  };
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface({ input: stream }).on("line", take);
  const code = await new Promise<number | string>((done, failed) => {
    child.once("error", failed);
    child.once("close", (exit, signal) => {
      done(exit ?? signal ?? "nothing");
    });
  });
  // If a worker process of mocha dies, the results of its files are missing in the output. Only the
  // exit code shows this failure.
  if (!state.ended || (code !== 0 && failures.length === 0))
    failures.push({
      title: `${tier}: the test runner`,
      message: `ended with ${code} after ${state.current === "" ? "no test" : `'${state.current}'`}\n${noise.slice(-kept).join("\n")}`,
    });
  return {
    passed: state.passed,
    failures,
    ...(times.length > 0 && { times }),
    ...(evidence.length > 0 && { evidence }),
  };
}
