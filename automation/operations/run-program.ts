import type { UpOptions, UpResult } from "../engine/operation-options.js";
import { StackOperation } from "../engine/operation-context.js";
import { excludeForeignCredentials, type CredentialFacts } from "../guards/foreign-credentials.js";
import { rewrittenServerGroups } from "../guards/plugin-conversion.js";
import { verifyAfterUp, verifyEarly, type EarlyVerification } from "../health/cluster-health.js";
import type { PreflightFacts } from "../preflight/preflight.js";
import { planRows, type PlanRow } from "../pulumi/preview-rows.js";
import { deleteUnconfirmedCreates } from "../repair/interrupted-run.js";
import type { Changes, Step } from "../steps/step.js";

/** Facts of `up` and `preview`. */
export interface UpFacts extends PreflightFacts, CredentialFacts {
  readonly options: UpOptions;
  /** Milliseconds to wait for Octavia's answer about each load balancer. Absent: no limit. */
  readonly octaviaPatience?: number | undefined;
  /** Check of the cluster while the engine runs. It counts only if the engine changes nothing. */
  verifying?: Promise<EarlyVerification | undefined> | undefined;
  /** Whether the engine changed anything. */
  changed: boolean;
  result?: UpResult;
}

/** Starts the engine's process and the sign-in while the state is read. */
export function startEngine({ run, options }: UpFacts): void {
  if (options.preflight !== false) run.getReady();
}

/** Runs the program in the engine without changing anything. Returns the rows of the plan. */
async function planProgram(run: StackOperation, { state }: UpFacts): Promise<PlanRow[]> {
  const { events } = await run.engine("preview", await excludeForeignCredentials(run, state));
  return planRows(events, rewrittenServerGroups(run, state));
}

/** Plans in a run that reports nothing: the user asked for an `up` and not for a preview. */
async function planSilently(facts: UpFacts): Promise<PlanRow[]> {
  const { service, stack, options } = facts.run;
  const { signal, killSignal, refresh, parallel, settings } = options;
  const silent = new StackOperation(service, stack, {
    signal,
    killSignal,
    refresh,
    parallel,
    settings,
  });
  try {
    return await planProgram(silent, facts);
  } finally {
    silent.close();
  }
}

/** Creates or changes the resources, and meanwhile checks the cluster as it was before. */
export const runProgram: Step<UpFacts, Changes> = {
  title: "Bring up the cluster",
  expectedSeconds: 150,
  describe: async (facts) => ({
    rows: await (facts.options.expectNoChanges === true
      ? planSilently(facts)
      : planProgram(facts.run, facts)),
  }),
  apply: async (facts) => {
    const { run, state, options, flags } = facts;
    const { expectNoChanges } = options;
    facts.verifying = state && verifyEarly(run, state, options);
    const { changed } = await run
      .engine("up", { expectNoChanges, ...flags })
      .catch(async (error: unknown) => {
        await deleteUnconfirmedCreates(run);
        throw error;
      });
    facts.changed = changed;
  },
};

/** Checks the new cluster from outside, and writes kubeconfig and timeline. */
export const verify: Step<UpFacts> = {
  title: "Verify the cluster and write its kubeconfig",
  expectedSeconds: 10,
  apply: async (facts) => {
    const { run, state, options, changed } = facts;
    const seen = changed ? undefined : await facts.verifying;
    const early = seen && { ...seen, after: state };
    facts.result = await verifyAfterUp(run, early, options);
  },
};
