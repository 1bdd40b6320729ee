import type { StackOperation } from "../engine/operation-context.js";
import type { PlanRow } from "../pulumi/preview-rows.js";
import type { StateExport } from "../pulumi/stack-state.js";

/*
 * An operation is a list of guards and a list of steps, each in its order. The runner
 * (run-steps.ts) runs, previews or refuses the steps (docs/decisions/0037-operations-as-steps.md).
 */

/** What the guards and steps of one operation know. An operation may add facts of its own. */
export interface Facts {
  readonly run: StackOperation;
  /** State at the beginning. Undefined: the stack does not exist, or no guard has read it. */
  initial?: StateExport | undefined;
  /** Newest state. Each guard or step that reads or writes the state updates it. */
  state?: StateExport | undefined;
  /** State with pending operations that a step has undone. */
  interrupted?: StateExport;
  /** Whether a step has deleted objects of the cloud, or removed resources from the state. */
  repaired?: boolean;
}

/** Reads facts, refuses the operation by an error, or starts early what a step needs later. */
export type Guard<F extends Facts = Facts> = (facts: F) => Promise<void> | void;

/** Changes that a step of `up` would make. */
export interface Changes {
  /** Rows of the plan. */
  readonly rows?: readonly PlanRow[];
  /** Phrase after "`up` would", for changes after which the rest of the plan is unknown. */
  readonly first?: string;
}

/**
 * One step of an operation. `Found` is the result of `detect`, `Description` the part that the step
 * adds to the plan of the operation.
 */
export interface Step<F extends Facts = Facts, Description = never, Found = unknown> {
  /** Title in the progress and in the documentation: a verb and its object. */
  readonly title: string;
  /** Whether the step belongs to this run at all. Absent: it does. */
  when?(facts: F): boolean;
  /** Measured seconds of the step, for the progress. Absent: not measured. */
  readonly expectedSeconds?: number;
  /**
   * Whether the events leave out the step, because it only does bookkeeping in the state or in
   * local files. Default: false.
   */
  readonly silent?: boolean;
  /** Returns what there is to do; undefined for nothing. Only reads. Absent: there always is. */
  detect?(facts: F): Promise<Found | undefined> | Found | undefined;
  /** Returns what `apply` would do. Only reads. Absent: the step changes nothing for the user. */
  describe?(facts: F, found: Found): Promise<Description> | Description;
  apply(facts: F, found: Found): Promise<void> | void;
}

export interface Operation<F extends Facts = Facts, Description = never> {
  /** Guards, before every step. */
  readonly guards: readonly Guard<F>[];
  readonly steps: readonly Step<F, Description>[];
}

/** Restricts steps to runs for which the condition holds. */
export const stepsWhen = <F extends Facts, Description>(
  condition: (facts: F) => boolean,
  steps: readonly Step<F, Description>[],
): Step<F, Description>[] => steps.map((step) => ({ ...step, when: condition }));

/** Restricts guards to runs for which the condition holds. */
export const guardsWhen = <F extends Facts>(
  condition: (facts: F) => boolean,
  guards: readonly Guard<F>[],
): Guard<F>[] => guards.map((guard) => (facts) => (condition(facts) ? guard(facts) : undefined));
