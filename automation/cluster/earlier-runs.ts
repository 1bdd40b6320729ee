import { z } from "zod";
import { pulumi, type StateAccess, type StateExport } from "./state.js";

/** A time in which a run was at work, in milliseconds since 1970. */
export interface Stretch {
  readonly from: number;
  /** Absent: its end is not known. */
  readonly to?: number;
  /** It was to take everything away, and has the state forget some of it before it was gone. @default it was not */
  readonly destroyed?: true;
}

export interface Doubts {
  /** Whether a run was killed, though the state does not say so any more: it was repaired since. Default: false. */
  readonly interrupted?: boolean;
}

/** What the engine writes down of a run that came to its end, well or not. The newest comes first. */
const historySchema = z.array(
  z.looseObject({
    kind: z.string(),
    result: z.string(),
    startTime: z.string(),
    endTime: z.string().optional(),
  }),
);
export type History = z.output<typeof historySchema>;

/** Clocks here and in the cloud may differ by so many milliseconds. */
const slack = 60_000;

/** When the stack began to be, as its state says. */
const beginningOf = ({ deployment }: StateExport): string | undefined =>
  z
    .string()
    .optional()
    .catch(undefined)
    .parse(deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack")?.["created"]);

/**
 * When runs were at work of which the state may not know everything: those that failed since the last good one, and the one
 * that was killed, which nobody recorded. Pure.
 */
export function unsettledBy(
  history: History,
  state: StateExport,
  { interrupted = false }: Doubts = {},
): Stretch[] {
  const good = history.findIndex(({ kind, result }) => kind === "update" && result === "succeeded");
  const failed = (good === -1 ? history : history.slice(0, good)).flatMap(
    ({ kind, startTime, endTime }): Stretch[] => {
      if (endTime === undefined) return [];
      const stretch = { from: Date.parse(startTime), to: Date.parse(endTime) };
      return [kind === "destroy" ? { ...stretch, destroyed: true } : stretch];
    },
  );
  const killed = interrupted || (state.deployment.pending_operations ?? []).length > 0;
  const since = history[0]?.endTime ?? beginningOf(state);
  return killed && since !== undefined ? [...failed, { from: Date.parse(since) }] : failed;
}

/** Whether something was made in one of them. */
export const fallsInto = (created: string, stretches: readonly Stretch[]): boolean => {
  const time = Date.parse(created);
  return stretches.some(({ from, to = Infinity }) => time >= from - slack && time <= to + slack);
};

/** Asks the engine for its records. */
export async function unsettledOf(
  access: StateAccess,
  state: StateExport,
  doubts?: Doubts,
): Promise<Stretch[]> {
  const { stdout } = await pulumi(access, ["stack", "history", "--json", "--page-size", "50"]);
  return unsettledBy(historySchema.parse(JSON.parse(stdout)), state, doubts);
}
