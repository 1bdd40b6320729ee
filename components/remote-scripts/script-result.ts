import { z } from "zod";

/** Beginning of the line with a script's result. `print_result` in common.sh prints the line. */
const mark = "@stackadm ";

const resultSchema = z.record(z.string(), z.unknown());
export type ScriptResult = z.infer<typeof resultSchema>;

function parseObject(text: string): ScriptResult | undefined {
  try {
    return resultSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Returns the result in the standard output of a script: the last line with the mark. Other lines
 * come from the machine's login shell, for example from its .bashrc. Earlier releases
 * printed results without the mark, and states contain such output. If no line has the mark, returns the
 * last line that is a JSON object. Returns undefined if there is no result.
 */
export function readScriptResult(stdout: string): ScriptResult | undefined {
  const lines = stdout.split(/\r?\n/);
  const marked = lines.findLast((line) => line.startsWith(mark));
  if (marked !== undefined) return parseObject(marked.slice(mark.length));
  return lines
    .map(parseObject)
    .filter((result) => result !== undefined)
    .at(-1);
}
