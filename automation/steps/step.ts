import type { StackOperation } from "../engine/operation-context.js";
import type { PlanRow } from "../pulumi/preview-rows.js";
import type { StateExport } from "../pulumi/stack-state.js";

/*
 * An operation is a list of guards and a list of steps. Both lists run in order. run-steps.ts runs,
 * previews or refuses the steps. See docs/decisions/0037-operations-as-steps.md.
 */

/** Facts that the guards and steps of one operation share. An operation may extend this type. */
export interface OperationFacts {
  readonly run: StackOperation;
  /**
   * State when the operation began. Undefined: the stack does not exist, or no guard has read the
   * state yet.
   */
  initial?: StateExport | undefined;
  /** Newest state. Each guard or step that reads or writes the state updates this field. */
  state?: StateExport | undefined;
  /**
   * State before a step undid its pending operations. Absent if no step undid pending operations.
   */
  interrupted?: StateExport;
  /** Whether a step has deleted objects in the cloud, or removed resources from the state. */
  repaired?: boolean;
}

/**
 * Reads facts, or refuses the operation by throwing, or starts work early that a later step needs.
 */
export type Guard<F extends OperationFacts = OperationFacts> = (facts: F) => Promise<void> | void;

/** Changes that a step of `up` would make. */
export interface PlannedChanges {
  readonly rows?: readonly PlanRow[];
  /**
   * End of the error message "No change was expected, but `up` would ...". Set if the rest of the
   * plan is unknown until these changes have been made.
   */
  readonly first?: string;
}

/**
 * Step of an operation. `Found` is the result of `detect`. `Description` is what the step adds to
 * the operation's plan.
 */
export interface OperationStep<
  F extends OperationFacts = OperationFacts,
  Description = never,
  Found = unknown,
> {
  /** Title for the progress display and the documentation: a verb and its object. */
  readonly title: string;
  /** Returns whether the step takes part in this run. Absent: the step takes part. */
  when?(facts: F): boolean;
  /** Measured duration of the step in seconds, for the progress display. Absent: not measured. */
  readonly expectedSeconds?: number;
  /**
   * Whether the step emits no events, because it only updates the state's bookkeeping or local
   * files. Default: false.
   */
  readonly silent?: boolean;
  /**
   * Returns the work to do, or undefined if there is none. Only reads. Absent: there is always
   * work.
   */
  detect?(facts: F): Promise<Found | undefined> | Found | undefined;
  /** Returns what `apply` would do. Only reads. Absent: the plan does not mention the step. */
  describe?(facts: F, found: Found): Promise<Description> | Description;
  apply(facts: F, found: Found): Promise<void> | void;
}

export interface Operation<F extends OperationFacts = OperationFacts, Description = never> {
  /** Guards, which all run before the first step. */
  readonly guards: readonly Guard<F>[];
  readonly steps: readonly OperationStep<F, Description>[];
}

/** Restricts steps to runs for which the condition is true. */
export const makeStepsConditional = <F extends OperationFacts, Description>(
  condition: (facts: F) => boolean,
  steps: readonly OperationStep<F, Description>[],
): OperationStep<F, Description>[] => steps.map((step) => ({ ...step, when: condition }));

/** Restricts guards to runs for which the condition is true. */
export const makeGuardsConditional = <F extends OperationFacts>(
  condition: (facts: F) => boolean,
  guards: readonly Guard<F>[],
): Guard<F>[] => guards.map((guard) => (facts) => (condition(facts) ? guard(facts) : undefined));
