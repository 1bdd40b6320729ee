import { Failure } from "./failure.js";

/** What a person did or has, and can mend, and no code is worth telling apart: one sentence and one hint. */
export class UserError extends Failure {
  constructor(
    /** One sentence: what is wrong, naming path and value. */
    message: string,
    /** What to do next: a sentence or a command. */
    hint?: string,
    /** 2 for what was written on the command line. */
    exitCode: 1 | 2 = 1,
  ) {
    super(exitCode === 2 ? "INVALID_USAGE" : "FAILED", message, hint);
    this.name = "UserError";
  }
}
