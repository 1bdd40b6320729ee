import { Failure } from "./failure.js";

/** Error without a specific failure code that the user can fix. Contains a sentence and a hint. */
export class UserError extends Failure {
  constructor(
    /** Sentence with the path, the value and the reason. */
    message: string,
    /** Next step for the user: a sentence or a command. */
    hint?: string,
    /** Exit code. 2 for an error on the command line. */
    exitCode: 1 | 2 = 1,
  ) {
    super(exitCode === 2 ? "INVALID_USAGE" : "FAILED", message, hint);
    this.name = "UserError";
  }
}
