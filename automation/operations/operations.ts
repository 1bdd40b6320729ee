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

/** Options and result of each operation, by the operation's name. */
export interface Operations {
  /** Creates or changes the cluster to match the stack's settings, and verifies that it works. */
  readonly up: { readonly options: UpOptions; readonly result: UpResult };
  /** Returns what `up` would do. Changes nothing. */
  readonly preview: { readonly options: PreviewOptions; readonly result: PreviewResult };
  /**
   * Reads the cloud's objects into the state. Counts the resources that differed from the state.
   */
  readonly refresh: { readonly options: RunOptions; readonly result: RefreshResult };
  /**
   * Deletes all resources in the state, and all objects in the cloud with an identity of the
   * state's clusters. Keeps retained objects. Then verifies that nothing else is left. Succeeds if
   * there is nothing to delete. Throws if the cluster is protected, or if only another state has a
   * cluster of this name. Does not ask for confirmation.
   */
  readonly destroy: { readonly options: DestroyOptions; readonly result: DestroyResult };
  /**
   * Removes the stack's locks, and returns their holders. Throws if a holder may be alive, unless
   * the caller names this holder as dead.
   */
  readonly unlock: { readonly options: UnlockOptions; readonly result: string[] };
}

export type OperationName = keyof Operations;

/** Function that performs an operation on one stack. */
export type OperationFunction<Name extends OperationName> = (
  run: StackOperation,
  options: Operations[Name]["options"],
) => Promise<Operations[Name]["result"]>;

export type OperationTable = { readonly [Name in OperationName]: OperationFunction<Name> };
