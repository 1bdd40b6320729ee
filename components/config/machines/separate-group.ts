import type { z } from "zod";
import type { MachineGroupSpec } from "./group-options.js";

/** Check that compares several arguments. `of` lists the arguments that `find` reads. */
export interface ConflictCheck<Args> {
  readonly of: readonly (keyof Args)[];
  readonly find: (value: Args) => readonly z.core.$ZodRawIssue[];
}

/** Group of machines that are not nodes. Its arguments have the name of the machines' role. */
export interface SeparateGroup {
  /** Schema of the arguments. A cluster without these arguments has no such machines. */
  readonly schema: z.ZodType;
  /** Returns the settings of the machines, with those that the user cannot write. */
  readonly group: (written: never) => MachineGroupSpec;
  /** Checks that compare the arguments of the group with other arguments. */
  readonly conflicts: readonly ConflictCheck<never>[];
}
