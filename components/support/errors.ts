import * as pulumi from "@pulumi/pulumi";
import { marked, type Failure } from "../../base/failure.js";
import type { FailureCode } from "../../base/failures.js";

/*
 * Errors of the program pass through the engine as text. Their failure code stands before the
 * sentence; the cluster service removes it again.
 */

/** Error that stops the program. Printed without a stack trace. */
export class ProgramError extends pulumi.RunError {
  constructor(code: FailureCode, sentence: string) {
    super(marked(code, sentence));
  }
}

/** Reports the cause of an error, in addition to the error that the engine itself reports. */
export const report = ({ code, sentence }: Failure): Promise<void> =>
  pulumi.log.error(marked(code, sentence));

/** Problem with one value: `path: sentence; what to write`. */
export interface Problem {
  /** Path as the user writes it: "cluster.workers.general.count". */
  readonly path: string;
  readonly message: string;
}

const list = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n");

/**
 * Error for an invalid configuration of the stack. Printed without a stack trace, all problems at
 * once.
 */
export class ConfigError extends ProgramError {
  constructor(where: string, problems: readonly Problem[]) {
    super("INVALID_CONFIG", `${where} is not valid:\n${list(problems)}`);
  }
}

/**
 * Error for invalid arguments of a component. Printed without a stack trace, with the component's
 * name.
 */
export class ArgumentError extends pulumi.ResourceError {
  constructor(component: pulumi.Resource, problems: readonly Problem[]) {
    const sentence = `The arguments are not valid:\n${list(problems)}`;
    super(marked("INVALID_CONFIG", sentence), component, true);
  }
}
