/**
 * What a person did or has, and can mend: printed as one sentence and one hint, without a stack,
 * with exit code `exitCode`.
 */
export class UserError extends Error {
  constructor(
    /** One sentence: what is wrong, naming path and value. */
    message: string,
    /** What to do next: a sentence or a command. */
    readonly hint?: string,
    readonly exitCode = 1,
  ) {
    super(message);
    this.name = "UserError";
  }
}
