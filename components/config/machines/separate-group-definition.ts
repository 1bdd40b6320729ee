import type { z } from "zod";
import type { MachineGroupSpec } from "./group-options.js";

/** Check that compares several arguments. `of` names the arguments that `find` reads. */
export interface ConflictCheck<Args> {
  readonly of: readonly (keyof Args)[];
  readonly find: (value: Args) => readonly z.core.$ZodRawIssue[];
}

/**
 * Group of machines that are not nodes. The group's arguments have the name of the machines' role.
 */
export interface SeparateGroupDefinition {
  /** Schema of the group's arguments. A cluster without these arguments has no such machines. */
  readonly schema: z.ZodType;
  /**
   * Returns the settings of the machine group: the user's arguments, and settings that users cannot
   * write.
   */
  readonly group: (written: never) => MachineGroupSpec;
  /** Checks that compare the group's arguments with each other or with other arguments. */
  readonly conflicts: readonly ConflictCheck<never>[];
}
