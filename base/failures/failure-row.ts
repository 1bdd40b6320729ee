/** Row of the table of failures. */
export interface FailureRow {
  /** Meaning of the code, without capital and full stop: for messages and docs/failures.md. */
  readonly sentence: string;
  /** Default hint: the next step for the user. An error may carry a more specific hint. */
  readonly hint: string;
  /**
   * Exit code of the command line: 1 failed, 2 configuration or usage, 3 cloud, 4 locked, 5 does
   * not work, 6 unexpected changes, 130 stopped.
   */
  readonly exitCode: 1 | 2 | 3 | 4 | 5 | 6 | 130;
  /**
   * Patterns that recognise the failure in error texts of other programs, for example Pulumi
   * plugins. Undefined: only this program reports the failure.
   */
  readonly said?: readonly ErrorPattern[];
}

/**
 * Pattern for the line of another program's error that states the cause. A pattern must contain a
 * space or a capital letter: the line may contain names that users chose, and such names contain
 * neither.
 */
export interface ErrorPattern {
  /**
   * Prefix of resource types, for example `openstack:`. The pattern applies only to errors about
   * resources of these types. Default: errors about all resources.
   */
  readonly of?: string;
  readonly text: RegExp;
}
