import { z } from "zod";
import { longestCreateMinutes } from "../../components/lifecycle/create-timeouts.js";
import { readLastUp, type LastUp } from "./last-up.js";
import { runPulumi, type StateAccess, type StateExport } from "./stack-state.js";

/** Period in which a run was active, in milliseconds since 1970. */
export interface RunPeriod {
  readonly from: number;
  readonly to: number;
  /**
   * Whether the run was a destroy. A failed destroy may have removed a resource from the state
   * before it deleted the object. @default false
   */
  readonly destroyed?: true;
  /** Whether the run failed, but was not killed: the state has all its results. @default false */
  readonly ended?: true;
  /**
   * Whether the period is only an outer limit: the run was active during a part of the period.
   * @default false: the run was active during the whole period
   */
  readonly atMost?: true;
}

export interface UnsettledOptions {
  /** State before the repair of a killed run. Default: the present state. */
  readonly interrupted?: StateExport | undefined;
}

/** History of the engine: a record of each finished run, successful or failed, the newest first. */
const historySchema = z.array(
  z.looseObject({
    kind: z.string(),
    result: z.string(),
    startTime: z.string(),
    endTime: z.string().optional(),
    /** Number of resources for each kind of operation. */
    resourceChanges: z.record(z.string(), z.number()).optional(),
  }),
);
export type StackHistory = z.output<typeof historySchema>;

/** Runs of a stack: the engine's history, and the note of this program about the last `up`. */
export interface StackRuns {
  readonly history: StackHistory;
  readonly begun?: LastUp | undefined;
}

/** Milliseconds by which the clocks of this machine and of the cloud may differ. */
export const clockTolerance = 60_000;
/**
 * Milliseconds after the last write of the state during which the request of a pending create may
 * still reach the cloud.
 */
export const longestCreateDelay = longestCreateMinutes * 60_000;

/** Returns when the stack was created, from the state. */
export const stackCreatedAt = ({ deployment }: StateExport): string | undefined =>
  deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack")?.created;

/**
 * Returns when the engine last wrote the state, in milliseconds since 1970; undefined if the state
 * does not contain this time.
 */
export function stateWrittenAt({ deployment }: StateExport): number | undefined {
  const manifest = z.looseObject({ time: z.iso.datetime({ offset: true }) });
  const time = Date.parse(manifest.safeParse(deployment["manifest"]).data?.time ?? "");
  return time > 0 ? time : undefined;
}

/** Returns whether the state has pending operations: an engine was killed while it worked. */
export const hasPendingOperations = ({ deployment }: StateExport): boolean =>
  (deployment.pending_operations ?? []).length > 0;

/**
 * Returns whether the last noted `up` finished at or after the last write of the state. The state
 * may then be a copy from the middle of this `up`.
 */
const isCopy = (written: number, begun: LastUp | undefined): boolean =>
  begun?.to !== undefined && begun.to + clockTolerance >= written;

/**
 * Returns the start time of the last noted `up`, if it began after the last run in the history and
 * its end was not noted. Otherwise undefined.
 */
function oursSince({ history, begun }: StackRuns): number | undefined {
  const recorded = Date.parse(history[0]?.endTime ?? "1970-01-01");
  return begun && begun.to === undefined && begun.from >= recorded ? begun.from : undefined;
}

/**
 * Returns the periods in which the killed run may have been active. One period begins at the end of
 * the last successful run: later failed runs keep pending operations, so the killed run may be
 * older than these runs. If the last `up` has no noted end, adds a certain period: from the start
 * of this `up` to the last write of the state.
 */
function killed(state: StateExport, runs: StackRuns): RunPeriod[] {
  const { history } = runs;
  const written = stateWrittenAt(state);
  const settled = history.find(({ kind, result }) => kind !== "refresh" && result === "succeeded");
  const since = settled?.endTime ?? stackCreatedAt(state) ?? history.at(-1)?.startTime;
  if (written === undefined || since === undefined) return [];
  if (isCopy(written, runs.begun)) return [];
  const atMost: RunPeriod = {
    from: Date.parse(since),
    to: written + longestCreateDelay,
    atMost: true,
  };
  const from = oursSince(runs);
  return from === undefined ? [atMost] : [{ from, to: written }, atMost];
}

/**
 * Returns the periods of runs whose results may be missing in the state: runs that failed after the
 * last successful `up`, and the killed run, which is not in the history. Pure.
 */
export function unrecordedRunPeriods(
  runs: StackRuns,
  state: StateExport,
  { interrupted = state }: UnsettledOptions = {},
): RunPeriod[] {
  const { history } = runs;
  const good = history.findIndex(({ kind, result }) => kind === "update" && result === "succeeded");
  const failed = (good === -1 ? history : history.slice(0, good)).flatMap(
    ({ kind, startTime, endTime }): RunPeriod[] => {
      // A refresh creates nothing.
      if (endTime === undefined || kind === "refresh") return [];
      const stretch = { from: Date.parse(startTime), to: Date.parse(endTime) };
      return [{ ...stretch, ...(kind === "destroy" ? { destroyed: true } : { ended: true }) }];
    },
  );
  return hasPendingOperations(interrupted) ? [...failed, ...killed(interrupted, runs)] : failed;
}

/**
 * Returns whether the time of an object's creation is in one of the periods.
 *
 * @param allowed milliseconds by which the clocks may differ
 */
export const isWithinPeriods = (
  created: string,
  stretches: readonly RunPeriod[],
  allowed: number = clockTolerance,
): boolean => {
  const time = Date.parse(created);
  return stretches.some(({ from, to }) => time >= from - allowed && time <= to + allowed);
};

/** Reads the engine's history and the note about the last `up`. */
export async function runsOf(access: StateAccess): Promise<StackRuns> {
  const { stdout } = await runPulumi(access, ["stack", "history", "--json", "--page-size", "50"]);
  return { history: historySchema.parse(JSON.parse(stdout)), begun: readLastUp(access.workspace) };
}

/** Reads the runs of the stack, and returns the periods of {@link unrecordedRunPeriods}. */
export const readUnrecordedRunPeriods = async (
  access: StateAccess,
  state: StateExport,
  doubts?: UnsettledOptions,
): Promise<RunPeriod[]> => unrecordedRunPeriods(await runsOf(access), state, doubts);
