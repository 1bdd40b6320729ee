import type { StackOperation } from "../engine/operation-context.js";
import type {
  DestroyOptions,
  DestroyResult,
  PreviewOptions,
  PreviewResult,
  RefreshResult,
  RunOptions,
  UnlockOptions,
  UpOptions,
  UpResult,
} from "../engine/operation-options.js";

/** Options and result of each operation, by its name. */
export interface Operations {
  /** Creates or changes the cluster to match the stack's settings, and verifies that it works. */
  readonly up: { readonly options: UpOptions; readonly result: UpResult };
  /** Returns what `up` would do. Changes nothing. */
  readonly preview: { readonly options: PreviewOptions; readonly result: PreviewResult };
  /** Reads the cloud's objects into the state, and counts what `up` would change. */
  readonly refresh: { readonly options: RunOptions; readonly result: RefreshResult };
  /**
   * Deletes all resources of the state and all objects with its clusters' identities, except
   * retained ones, and verifies the deletion. Succeeds if there are none. Throws for a protected
   * cluster, or if only another state has a cluster of this name. Does not ask for confirmation.
   */
  readonly destroy: { readonly options: DestroyOptions; readonly result: DestroyResult };
  /** Removes the locks of holders that the caller knows to be dead, and returns these holders. */
  readonly unlock: { readonly options: UnlockOptions; readonly result: string[] };
}

export type OperationName = keyof Operations;

/** Function that performs an operation on one stack. */
export type PerformOperation<Name extends OperationName> = (
  run: StackOperation,
  options: Operations[Name]["options"],
) => Promise<Operations[Name]["result"]>;

export type OperationTable = { readonly [Name in OperationName]: PerformOperation<Name> };
