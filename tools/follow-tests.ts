import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { mark } from "./line-reporter.js";

export interface TestFailure {
  readonly title: string;
  readonly message: string;
}

export interface TierResult {
  readonly passed: number;
  readonly failures: readonly TestFailure[];
}

const lineSchema = z.object({
  type: z.enum(["begin", "pass", "fail", "end"]),
  title: z.string().default(""),
  message: z.string().default(""),
});

/** How much of what a crashed tier printed is shown. */
const kept = 40;

/** Reads the reporter's lines of a running mocha until it ends. A mocha that dies without its end is a failure. */
export async function followTests(
  tier: string,
  child: ChildProcess,
  onBegin: (title: string) => void,
): Promise<TierResult> {
  const state = { passed: 0, ended: false, current: "" };
  const failures: TestFailure[] = [];
  const noise: string[] = [];
  const take = (line: string): void => {
    const position = line.indexOf(mark);
    if (position < 0) {
      noise.push(line);
      return;
    }
    const { type, title, message } = lineSchema.parse(JSON.parse(line.slice(position + 1)));
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
  // A process of mocha's that dies takes its files along, and only the exit code tells.
  if (!state.ended || (code !== 0 && failures.length === 0))
    failures.push({
      title: `${tier}: the test runner`,
      message: `ended with ${code} after ${state.current === "" ? "no test" : `'${state.current}'`}\n${noise.slice(-kept).join("\n")}`,
    });
  return { passed: state.passed, failures };
}
