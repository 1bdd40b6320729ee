import { z } from "zod";
import { stackadm } from "../../../test/lab/support/stack/command-line.js";
import type { LabCluster } from "../../../test/lab/support/stack/lab-cluster.js";
import type { ResourceWork } from "./moments.js";

const eventSchema = z.object({
  type: z.literal("resource"),
  state: z.enum(["started", "finished"]),
  urn: z.string(),
  kind: z.string(),
  name: z.string(),
});

/** Recorder of the engine's work. It reads the lines that `--json` prints. */
class Watch {
  readonly work: ResourceWork[] = [];
  readonly #began = new Map<string, number>();
  #rest = "";

  take(part: string, now = Date.now()): void {
    const lines = (this.#rest + part).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line.includes('"type":"resource"')) this.#line(line, now);
  }

  #line(line: string, now: number): void {
    const parsed = eventSchema.safeParse(JSON.parse(line));
    if (!parsed.success) return;
    const { state, urn, kind: type, name } = parsed.data;
    if (state === "started") this.#began.set(urn, now);
    else this.work.push({ type, name, startedAt: this.#began.get(urn) ?? now, endedAt: now });
  }
}

/**
 * Runs the command line as a user does, until it exits.
 *
 * @param changes changes to the cluster in the stack file
 */
export async function runStackadm(
  cluster: LabCluster,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  changes: Readonly<Record<string, unknown>> = {},
): Promise<readonly ResourceWork[]> {
  const watch = new Watch();
  const onText = (part: string): void => {
    watch.take(part);
  };
  const { code, text } = await stackadm(cluster, [...args, "--json"], { env, changes, onText });
  if (code !== 0) throw new Error(`stackadm ${args.join(" ")} failed:\n${text.slice(-4000)}`);
  return watch.work;
}
