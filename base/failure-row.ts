/** One row of the table of failures. */
export interface FailureRow {
  /** What it means, without a capital and a full stop: stands in sentences and in docs/failures.md. */
  readonly sentence: string;
  /** What to do next, where the place that fails does not know better. */
  readonly hint: string;
  /** With what the command line ends: 1 failed, 2 configuration or usage, 3 cloud, 4 locked, 5 does not work, 6 changes where none were expected, 130 stopped. */
  readonly exitCode: 1 | 2 | 3 | 4 | 5 | 6 | 130;
  /** How others say it. Absent: nobody but our own code knows it. */
  readonly said?: readonly Said[];
}

/**
 * Text in the one line that counts of what somebody else says. Names that people choose may stand in that line, so a pattern needs
 * a space or a capital, which none of them has.
 */
export interface Said {
  /** How the type of the resources begins of which it is said: the plugin that speaks. Default: any. */
  readonly of?: string;
  readonly text: RegExp;
}
