import { z } from "zod";
import { longestCreationTimeoutMinutes } from "../../components/lifecycle/create-timeouts.js";
import { readLastUp, type LastUp } from "./last-up.js";
import { runPulumi, type StateAccess, type StateExport } from "./stack-state.js";

/** Period in which a run was active or may have been active, in milliseconds since 1970. */
export interface RunPeriod {
  readonly from: number;
  readonly to: number;
  /**
   * Whether the run was a destroy. A failed destroy may have removed a resource from the state
   * before it deleted the object.
   * @default false
   */
  readonly destroyed?: true;
  /**
   * Whether the run failed, but was not killed. The state then contains all results of the run.
   * @default false
   */
  readonly ended?: true;
  /**
   * Whether the period is only an outer limit: the run was active in some part of it.
   * @default false: the run was active during the whole period
   */
  readonly atMost?: true;
}

export interface UnrecordedPeriodOptions {
  /** State before the repair of a killed run. Default: the state that the caller passes. */
  readonly interrupted?: StateExport | undefined;
}

/** Engine's history: one record for each run that ended, successful or failed, the newest first. */
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

/**
 * Information about a stack's runs: the engine's history, and the local record of the last `up`.
 */
export interface StackRuns {
  readonly history: StackHistory;
  readonly begun?: LastUp | undefined;
}

/** Milliseconds by which the clocks of this machine and of the cloud may differ. */
export const clockTolerance = 60_000;
/**
 * Milliseconds after the last write of the state during which a pending create request may still
 * reach the cloud.
 */
export const longestCreateDelay = longestCreationTimeoutMinutes * 60_000;

export const getStackCreationTime = ({ deployment }: StateExport): string | undefined =>
  deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack")?.created;

/**
 * Returns the time at which the engine last wrote the state, in milliseconds since 1970. Returns
 * undefined if the state does not contain this time.
 */
export function getStateWriteTime({ deployment }: StateExport): number | undefined {
  const manifest = z.looseObject({ time: z.iso.datetime({ offset: true }) });
  const time = Date.parse(manifest.safeParse(deployment["manifest"]).data?.time ?? "");
  return time > 0 ? time : undefined;
}

/**
 * Returns whether the state has pending operations. Pending operations mean that an engine was
 * killed during its work.
 */
export const hasPendingOperations = ({ deployment }: StateExport): boolean =>
  (deployment.pending_operations ?? []).length > 0;

/**
 * Returns whether the last `up` ended at or after the last write of the state, according to the
 * local record. If so, the state may be a copy that was made during this `up`.
 */
const isCopy = (written: number, begun: LastUp | undefined): boolean =>
  begun?.to !== undefined && begun.to + clockTolerance >= written;

/**
 * Returns the start time of the recorded last `up`, if this `up` began after the last run in the
 * history and has no recorded end. Otherwise returns undefined.
 */
function unfinishedUpStart({ history, begun }: StackRuns): number | undefined {
  const recorded = Date.parse(history[0]?.endTime ?? "1970-01-01");
  return begun && begun.to === undefined && begun.from >= recorded ? begun.from : undefined;
}

/**
 * Returns the periods in which the killed run may have been active. The first possible start is the
 * end of the last successful run. A later failed run is no limit, because failed runs keep the
 * pending operations of an older killed run. If the recorded last `up` has no end, also returns the
 * period from its start to the last write of the state. The killed run was active in this whole
 * period.
 */
function killedRunPeriods(state: StateExport, runs: StackRuns): RunPeriod[] {
  const { history } = runs;
  const written = getStateWriteTime(state);
  const settled = history.find(({ kind, result }) => kind !== "refresh" && result === "succeeded");
  const since = settled?.endTime ?? getStackCreationTime(state) ?? history.at(-1)?.startTime;
  if (written === undefined || since === undefined) return [];
  if (isCopy(written, runs.begun)) return [];
  const atMost: RunPeriod = {
    from: Date.parse(since),
    to: written + longestCreateDelay,
    atMost: true,
  };
  const from = unfinishedUpStart(runs);
  return from === undefined ? [atMost] : [{ from, to: written }, atMost];
}

/**
 * Returns the periods of runs whose results may be missing in the state: runs that failed after the
 * last successful `up`, and the killed run, which is not in the history.
 */
export function findUnrecordedRunPeriods(
  runs: StackRuns,
  state: StateExport,
  { interrupted = state }: UnrecordedPeriodOptions = {},
): RunPeriod[] {
  const { history } = runs;
  const good = history.findIndex(({ kind, result }) => kind === "update" && result === "succeeded");
  const failed = (good === -1 ? history : history.slice(0, good)).flatMap(
    ({ kind, startTime, endTime }): RunPeriod[] => {
      // A refresh creates no objects.
      if (endTime === undefined || kind === "refresh") return [];
      const stretch = { from: Date.parse(startTime), to: Date.parse(endTime) };
      return [{ ...stretch, ...(kind === "destroy" ? { destroyed: true } : { ended: true }) }];
    },
  );
  return hasPendingOperations(interrupted)
    ? [...failed, ...killedRunPeriods(interrupted, runs)]
    : failed;
}

/**
 * Returns whether an object was created in one of the periods.
 *
 * @param created time at which the object was created
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

/** Reads the engine's history and the local record of the last `up`. */
export async function readStackRuns(access: StateAccess): Promise<StackRuns> {
  const { stdout } = await runPulumi(access, ["stack", "history", "--json", "--page-size", "50"]);
  return { history: historySchema.parse(JSON.parse(stdout)), begun: readLastUp(access.workspace) };
}

/** Reads the runs of the stack. Returns the periods of {@link findUnrecordedRunPeriods}. */
export const readUnrecordedRunPeriods = async (
  access: StateAccess,
  state: StateExport,
  doubts?: UnrecordedPeriodOptions,
): Promise<RunPeriod[]> => findUnrecordedRunPeriods(await readStackRuns(access), state, doubts);
