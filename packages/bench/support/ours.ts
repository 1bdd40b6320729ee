import { z } from "zod";
import { stackadm } from "../../../test/lab/support/command-line.js";
import type { LabCluster } from "../../../test/lab/support/lab-cluster.js";
import type { Work } from "./moments.js";

const eventSchema = z.object({
  type: z.literal("event"),
  event: z.object({
    type: z.enum(["started", "finished"]),
    change: z.object({ urn: z.string(), type: z.string(), name: z.string() }),
  }),
});

/** Recorder of the engine's work, read from the lines that `--json` prints. */
class Watch {
  readonly work: Work[] = [];
  readonly #began = new Map<string, number>();
  #rest = "";

  take(part: string, now = Date.now()): void {
    const lines = (this.#rest + part).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith('{"type":"event"')) this.#line(line, now);
  }

  #line(line: string, now: number): void {
    const parsed = eventSchema.safeParse(JSON.parse(line));
    if (!parsed.success) return;
    const { type: what, change } = parsed.data.event;
    const { urn, type, name } = change;
    if (what === "started") this.#began.set(urn, now);
    else this.work.push({ type, name, startedAt: this.#began.get(urn) ?? now, endedAt: now });
  }
}

/**
 * Runs the command line as a user does, until it exits.
 *
 * @param changes changes of the stack file's cluster
 */
export async function ours(
  cluster: LabCluster,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  changes: Readonly<Record<string, unknown>> = {},
): Promise<readonly Work[]> {
  const watch = new Watch();
  const onText = (part: string): void => {
    watch.take(part);
  };
  const { code, text } = await stackadm(cluster, [...args, "--json"], { env, changes, onText });
  if (code !== 0) throw new Error(`stackadm ${args.join(" ")} failed:\n${text.slice(-4000)}`);
  return watch.work;
}
