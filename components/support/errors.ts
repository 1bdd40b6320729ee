import * as pulumi from "@pulumi/pulumi";

/** What is wrong with one value: `path: sentence; what to write`. */
export interface Problem {
  /** Where, as the user writes it: "cluster.workers.general.count". */
  readonly path: string;
  readonly message: string;
}

const list = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n");

/** The stack's configuration cannot be used. Printed without a stack trace, all problems at once. */
export class ConfigError extends pulumi.RunError {
  constructor(where: string, problems: readonly Problem[]) {
    super(`${where} is not valid:\n${list(problems)}`);
  }
}

/** The arguments of a component cannot be used. Printed without a stack trace, beside the component's name. */
export class ArgumentError extends pulumi.ResourceError {
  constructor(component: pulumi.Resource, problems: readonly Problem[]) {
    super(`The arguments are not valid:\n${list(problems)}`, component, true);
  }
}
