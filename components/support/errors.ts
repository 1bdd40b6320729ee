import * as pulumi from "@pulumi/pulumi";
import { marked, type Failure } from "../../base/failure.js";
import type { FailureCode } from "../../base/failures.js";

/*
 * Errors of the program pass through the engine as text: each has its code before its sentence, which the cluster service
 * takes off again.
 */

/** The program cannot go on. Printed without a stack trace. */
export class ProgramError extends pulumi.RunError {
  constructor(code: FailureCode, sentence: string) {
    super(marked(code, sentence));
  }
}

/** Says what is behind an error that the engine reports itself, beside it. */
export const report = ({ code, sentence }: Failure): Promise<void> =>
  pulumi.log.error(marked(code, sentence));

/** What is wrong with one value: `path: sentence; what to write`. */
export interface Problem {
  /** Where, as the user writes it: "cluster.workers.general.count". */
  readonly path: string;
  readonly message: string;
}

const list = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n");

/** The stack's configuration cannot be used. Printed without a stack trace, all problems at once. */
export class ConfigError extends ProgramError {
  constructor(where: string, problems: readonly Problem[]) {
    super("INVALID_CONFIG", `${where} is not valid:\n${list(problems)}`);
  }
}

/** The arguments of a component cannot be used. Printed without a stack trace, beside the component's name. */
export class ArgumentError extends pulumi.ResourceError {
  constructor(component: pulumi.Resource, problems: readonly Problem[]) {
    const sentence = `The arguments are not valid:\n${list(problems)}`;
    super(marked("INVALID_CONFIG", sentence), component, true);
  }
}
