import { z } from "zod";
import { begunAt, type Begun } from "./begun.js";
import { pulumi, type StateAccess, type StateExport } from "./state.js";

/** A time in which a run was at work, in milliseconds since 1970. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** It was to take everything away, and has the state forget some of it before it was gone. @default it was not */
  readonly destroyed?: true;
  /** It came to its end, and failed: what it knew of is in the state. @default nobody saw it end */
  readonly ended?: true;
  /** The run may have begun later and ended earlier. @default it was at work all the time */
  readonly atMost?: true;
}

export interface Doubts {
  /** The state as a run that was killed left it, where it was repaired since. Default: the state itself says whether one was killed. */
  readonly interrupted?: StateExport | undefined;
}

/** What the engine writes down of a run that came to its end, well or not. The newest comes first. */
const historySchema = z.array(
  z.looseObject({
    kind: z.string(),
    result: z.string(),
    startTime: z.string(),
    endTime: z.string().optional(),
    /** How many resources it did what with. */
    resourceChanges: z.record(z.string(), z.number()).optional(),
  }),
);
export type History = z.output<typeof historySchema>;

/** What is known of a stack's runs: what the engine recorded, and the last `up` of ours. */
export interface Runs {
  readonly history: History;
  readonly begun?: Begun | undefined;
}

/** Clocks here and in the cloud may differ by so many milliseconds. */
export const slack = 60_000;
/** So many milliseconds after the state was written what it says to be in the making may still be begun: no create may take longer. */
export const longest = 20 * 60_000;

/** When the stack began to be, as its state says. */
export const beginningOf = ({ deployment }: StateExport): string | undefined =>
  deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack")?.created;

/** When an engine last wrote the state, in milliseconds since 1970; undefined where it does not say. */
export function writtenAt({ deployment }: StateExport): number | undefined {
  const manifest = z.looseObject({ time: z.iso.datetime({ offset: true }) });
  const time = Date.parse(manifest.safeParse(deployment["manifest"]).data?.time ?? "");
  return time > 0 ? time : undefined;
}

/** Whether an engine was killed while it worked on the stack, as its state says. */
export const hasPending = ({ deployment }: StateExport): boolean =>
  (deployment.pending_operations ?? []).length > 0;

/** Whether a run of ours came to its end when the state was written, or later: it may be a copy from the midst of that run. */
const isCopy = (written: number, begun: Begun | undefined): boolean =>
  begun?.to !== undefined && begun.to + slack >= written;

/** When a run of ours began since anything was recorded that nobody saw end. */
function oursSince({ history, begun }: Runs): number | undefined {
  const recorded = Date.parse(history[0]?.endTime ?? "1970-01-01");
  return begun && begun.to === undefined && begun.from >= recorded ? begun.from : undefined;
}

/**
 * When the run that was killed was at work: at most since all was settled, for runs that failed since keep what was in the making; certainly
 * since the last one of ours began that nobody saw end, until the state was written, if nobody has written it since.
 */
function killed(state: StateExport, runs: Runs): Stretch[] {
  const { history } = runs;
  const written = writtenAt(state);
  const settled = history.find(({ kind, result }) => kind !== "refresh" && result === "succeeded");
  const since = settled?.endTime ?? beginningOf(state) ?? history.at(-1)?.startTime;
  if (written === undefined || since === undefined) return [];
  if (isCopy(written, runs.begun)) return [];
  const atMost: Stretch = { from: Date.parse(since), to: written + longest, atMost: true };
  const from = oursSince(runs);
  return from === undefined ? [atMost] : [{ from, to: written }, atMost];
}

/**
 * When runs were at work of which the state may not know everything: those that failed since the last good one, and the one
 * that was killed, which nobody recorded. Pure.
 */
export function unsettledBy(
  runs: Runs,
  state: StateExport,
  { interrupted = state }: Doubts = {},
): Stretch[] {
  const { history } = runs;
  const good = history.findIndex(({ kind, result }) => kind === "update" && result === "succeeded");
  const failed = (good === -1 ? history : history.slice(0, good)).flatMap(
    ({ kind, startTime, endTime }): Stretch[] => {
      // A refresh makes nothing.
      if (endTime === undefined || kind === "refresh") return [];
      const stretch = { from: Date.parse(startTime), to: Date.parse(endTime) };
      return [{ ...stretch, ...(kind === "destroy" ? { destroyed: true } : { ended: true }) }];
    },
  );
  return hasPending(interrupted) ? [...failed, ...killed(interrupted, runs)] : failed;
}

/** Whether something was made in one of them. @param allowed for clocks that differ, in milliseconds */
export const fallsInto = (
  created: string,
  stretches: readonly Stretch[],
  allowed: number = slack,
): boolean => {
  const time = Date.parse(created);
  return stretches.some(({ from, to }) => time >= from - allowed && time <= to + allowed);
};

/** Asks the engine for its records. */
export async function runsOf(access: StateAccess): Promise<Runs> {
  const { stdout } = await pulumi(access, ["stack", "history", "--json", "--page-size", "50"]);
  return { history: historySchema.parse(JSON.parse(stdout)), begun: begunAt(access.workspace) };
}

/** The same as {@link unsettledBy}, by the engine's records. */
export const unsettledOf = async (
  access: StateAccess,
  state: StateExport,
  doubts?: Doubts,
): Promise<Stretch[]> => unsettledBy(await runsOf(access), state, doubts);
