/** Row of the table of failures. */
export interface FailureRow {
  /** Meaning of the code, without capital and full stop: for messages and docs/failures.md. */
  readonly sentence: string;
  /** Next step for the user, if the failing code gives no better hint. */
  readonly hint: string;
  /**
   * Exit code of the command line: 1 failed, 2 configuration or usage, 3 cloud, 4 locked, 5 does
   * not work, 6 unexpected changes, 130 stopped.
   */
  readonly exitCode: 1 | 2 | 3 | 4 | 5 | 6 | 130;
  /**
   * Patterns of other programs' errors with this meaning. Undefined: only this program reports it.
   */
  readonly said?: readonly Said[];
}

/**
 * Pattern for the relevant line of another program's error. The line may contain names that users
 * choose, so a pattern needs a space or a capital, which such names cannot contain.
 */
export interface Said {
  /**
   * Prefix of the types of the resources that the error is about, which identifies the plugin.
   * Default: any.
   */
  readonly of?: string;
  readonly text: RegExp;
}
