/** Row of the table of failures. */
export interface FailureRow {
  /**
   * Meaning of the code, for messages and for the page of failure codes. Begins with a small letter
   * and has no full stop.
   */
  readonly sentence: string;
  /** Default hint, which is the next step for the user. A failure may have a more specific hint. */
  readonly hint: string;
  /**
   * Exit code of the command line: 1 failed, 2 wrong configuration or usage, 3 problem of the
   * cloud, 4 locked, 5 cluster does not work, 6 unexpected changes, 130 stopped.
   */
  readonly exitCode: 1 | 2 | 3 | 4 | 5 | 6 | 130;
  /**
   * Patterns for error texts of other programs, for example Pulumi plugins. Each text that matches
   * means this failure. Undefined: only this program reports the failure.
   */
  readonly said?: readonly ErrorPattern[];
}

/**
 * Pattern for an error text of another program. The pattern is compared with the line that states
 * the cause. The line may contain names that users chose. These names contain no space and no
 * capital letter. A pattern must therefore contain a space or a capital letter.
 */
export interface ErrorPattern {
  /**
   * Prefix of resource types, for example `openstack:`. The pattern applies only to errors of
   * resources with these types. Default: errors of all resources.
   */
  readonly of?: string;
  readonly text: RegExp;
}
