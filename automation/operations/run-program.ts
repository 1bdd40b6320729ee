import type { UpOptions, UpResult } from "../engine/operation-options.js";
import { StackOperation } from "../engine/operation-context.js";
import {
  createExclusionFlags,
  type ForeignCredentialFacts,
} from "../guards/foreign-credentials.js";
import { findUnconvertedServerGroups } from "../guards/plugin-conversion.js";
import {
  verifyAndWriteFiles,
  verifyEarly,
  type EarlyVerificationResult,
} from "../health/cluster-health.js";
import type { PreflightFacts } from "../preflight/preflight.js";
import { createPlanRows, type PlanRow } from "../pulumi/preview-rows.js";
import { deleteUnconfirmedCreates } from "../repair/interrupted-run.js";
import type { PlannedChanges, OperationStep } from "../steps/step.js";

/** Facts that the guards and steps of `up` and `preview` collect. */
export interface UpFacts extends PreflightFacts, ForeignCredentialFacts {
  readonly options: UpOptions;
  /** Time limit in milliseconds for Octavia's answer about each load balancer. Absent: no limit. */
  readonly octaviaPatience?: number | undefined;
  /**
   * Result of the cluster check that runs at the same time as the engine. The result is used only
   * if the engine changes nothing.
   */
  verifying?: Promise<EarlyVerificationResult | undefined> | undefined;
  /** Whether the engine changed anything. */
  changed: boolean;
  result?: UpResult;
}

/**
 * Starts the engine's process and the sign-in to the cloud early, to save time while the state is
 * read.
 */
export function prestartEngineWithProgram({ run, options }: UpFacts): void {
  if (options.preflight !== false) run.prestart();
}

/** Runs a preview in the engine. Returns the rows of the plan. */
async function planProgram(run: StackOperation, { state }: UpFacts): Promise<PlanRow[]> {
  const { events } = await run.runEngine("preview", await createExclusionFlags(run, state));
  return createPlanRows(events, findUnconvertedServerGroups(run, state));
}

/**
 * Runs a preview without events for the user, who asked for `up` and not for a preview. Returns the
 * rows of the plan.
 */
async function planSilently(facts: UpFacts): Promise<PlanRow[]> {
  const { service, stack, options } = facts.run;
  const { signal, killSignal, refresh, parallel, settings, redactor } = options;
  const silent = new StackOperation(service, stack, {
    signal,
    killSignal,
    refresh,
    parallel,
    settings,
    redactor,
  });
  try {
    return await planProgram(silent, facts);
  } finally {
    silent.close();
  }
}

/** Creates or changes the resources. At the same time, checks the cluster that existed before. */
export const runProgram: OperationStep<UpFacts, PlannedChanges> = {
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
      .runEngine("up", { expectNoChanges, ...flags })
      .catch(async (error: unknown) => {
        await deleteUnconfirmedCreates(run);
        throw error;
      });
    facts.changed = changed;
  },
};

/** Checks the new cluster from outside. Writes the kubeconfig and the timeline page. */
export const verifyNewCluster: OperationStep<UpFacts> = {
  title: "Verify the cluster and write its kubeconfig",
  expectedSeconds: 10,
  apply: async (facts) => {
    const { run, state, options, changed } = facts;
    const seen = changed ? undefined : await facts.verifying;
    const early = seen && { ...seen, after: state };
    facts.result = await verifyAndWriteFiles(run, early, options);
  },
};
