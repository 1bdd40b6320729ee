import * as pulumi from "@pulumi/pulumi";
import { prependFailureCode, type Failure } from "../../base/failures/failure.js";
import type { FailureCode } from "../../base/failures/failure-codes.js";

/*
 * The engine passes errors of the program on as text. The text therefore begins with the failure
 * code. The cluster service removes the code from the text.
 */

/** Error that stops the program. Printed without a stack trace. */
export class ProgramError extends pulumi.RunError {
  constructor(code: FailureCode, sentence: string) {
    super(prependFailureCode(code, sentence));
  }
}

/**
 * Reports the cause of a resource's failure to the engine, which also reports the failure itself.
 */
export const reportFailure = ({ code, sentence }: Failure): Promise<void> =>
  pulumi.log.error(prependFailureCode(code, sentence));

/** Problem with one argument: its path, and a message with the error and the remedy. */
export interface ArgumentProblem {
  /** Path as the user writes it: "cluster.workers.general.count". */
  readonly path: string;
  readonly message: string;
}

const list = (problems: readonly ArgumentProblem[]): string =>
  problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n");

/** Returns the error for an invalid configuration of the stack. The error lists all problems. */
export const createConfigError = (
  where: string,
  problems: readonly ArgumentProblem[],
): ProgramError => new ProgramError("INVALID_CONFIG", `${where} is not valid:\n${list(problems)}`);

/**
 * Returns the error for invalid arguments of a component. The error lists all problems. The engine
 * prints it with the component's name and without a stack trace.
 */
export const createArgumentError = (
  component: pulumi.Resource,
  problems: readonly ArgumentProblem[],
): pulumi.ResourceError => {
  const sentence = `The arguments are not valid:\n${list(problems)}`;
  return new pulumi.ResourceError(prependFailureCode("INVALID_CONFIG", sentence), component, true);
};
