import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { mark } from "./line-reporter.js";

export interface TestFailure {
  readonly title: string;
  readonly message: string;
}

/** One point that an example has to fulfil, and what was seen of it. */
export interface Evidence {
  readonly example: string;
  readonly point: string;
  readonly seen: string;
}

/** How long a file took, with what it made before its first test and took away after the last one. */
export interface FileTime {
  readonly file: string;
  readonly milliseconds: number;
}

export interface TierResult {
  readonly passed: number;
  readonly failures: readonly TestFailure[];
  /** In the order in which they ended. Absent: none said it. */
  readonly times?: readonly FileTime[];
  /** In the order in which it was seen. Absent: nothing was. */
  readonly evidence?: readonly Evidence[];
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
  const evidence: Evidence[] = [];
  const times: FileTime[] = [];
  const noise: string[] = [];
  const take = (line: string): void => {
    const position = line.indexOf(mark);
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
  // A process of mocha's that dies takes its files along, and only the exit code tells.
  if (!state.ended || (code !== 0 && failures.length === 0))
    failures.push({
      title: `${tier}: the test runner`,
      message: `ended with ${code} after ${state.current === "" ? "no test" : `'${state.current}'`}\n${noise.slice(-kept).join("\n")}`,
    });
  return {
    ...{ passed: state.passed, failures },
    ...(times.length > 0 && { times }),
    ...(evidence.length > 0 && { evidence }),
  };
}
