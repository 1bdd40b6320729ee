import { Failure } from "./failure.js";

/** Error that the user can fix and that needs no specific failure code: a sentence and a hint. */
export class UserError extends Failure {
  constructor(
    /** Sentence that names path, value and what is wrong. */
    message: string,
    /** Sentence or command for the next step. */
    hint?: string,
    /** Exit code; 2 for an error on the command line. */
    exitCode: 1 | 2 = 1,
  ) {
    super(exitCode === 2 ? "INVALID_USAGE" : "FAILED", message, hint);
    this.name = "UserError";
  }
}
