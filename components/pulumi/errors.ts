import * as pulumi from "@pulumi/pulumi";
import { textWithCode, type Failure } from "../../base/failures/failure.js";
import type { FailureCode } from "../../base/failures/failure-codes.js";

/*
 * Errors of the program pass through the engine as text. The text begins with the failure code,
 * which the cluster service removes from the text.
 */

/** Error that stops the program. Printed without a stack trace. */
export class ProgramError extends pulumi.RunError {
  constructor(code: FailureCode, sentence: string) {
    super(textWithCode(code, sentence));
  }
}

/** Reports the cause of an error to the engine. The engine also reports the error itself. */
export const reportFailure = ({ code, sentence }: Failure): Promise<void> =>
  pulumi.log.error(textWithCode(code, sentence));

/** Problem with one value: the path, and a sentence with what is wrong and what to write. */
export interface ArgumentProblem {
  /** Path as the user writes it: "cluster.workers.general.count". */
  readonly path: string;
  readonly message: string;
}

const list = (problems: readonly ArgumentProblem[]): string =>
  problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n");

/**
 * Error for an invalid configuration of the stack, with all problems. Printed without a stack
 * trace.
 */
export class ConfigError extends ProgramError {
  constructor(where: string, problems: readonly ArgumentProblem[]) {
    super("INVALID_CONFIG", `${where} is not valid:\n${list(problems)}`);
  }
}

/**
 * Error for invalid arguments of a component, with the component's name. Printed without a stack
 * trace.
 */
export class ArgumentError extends pulumi.ResourceError {
  constructor(component: pulumi.Resource, problems: readonly ArgumentProblem[]) {
    const sentence = `The arguments are not valid:\n${list(problems)}`;
    super(textWithCode("INVALID_CONFIG", sentence), component, true);
  }
}
