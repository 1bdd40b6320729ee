import * as pulumi from "@pulumi/pulumi";

/*
 * Everything in the program that depends on a private part of Pulumi: of its Node SDK or its
 * engine. Each has the reason, and the public way that it replaces. It is a separate file from
 * automation/pulumi/pulumi-internals.ts because the program also runs without `automation/`, by
 * `pulumi up` and in the user's own programs. The tests of the same name in test/graph and
 * test/engine check that Pulumi still works in this way; `npm run test:newest` runs them with the
 * newest SDK and engine. See docs/decisions/0038-pulumi-internals.md.
 */

/**
 * Returns the value of an output, or undefined if it is unknown. The caller does not depend on the
 * output's resource. Rejects if that resource fails.
 *
 * Reason: a rollout waits for a machine without making its resources depend on each other, and must
 * not wait forever for a machine that failed.
 *
 * Public way: `output.apply`, which calls no function for an unknown value or after an error.
 */
export async function settledValue<T extends string | number>(
  output: pulumi.Output<T>,
): Promise<T | undefined> {
  const { value } = (await pulumi.runtime.serializeProperties("value", { value: output })) as {
    readonly value: T;
  };
  return value === pulumi.runtime.unknownValue ? undefined : value;
}

/**
 * Returns whether a value of the stack's configuration, or a part of the value, is encrypted.
 *
 * Reason: a password in plain text is refused, and the SDK returns encrypted values decrypted.
 *
 * Public way: none. `pulumi.Config` does not return whether a value is encrypted, and the program
 * does not know which file has the configuration. The SDK's types leave out this function.
 *
 * @param key key of the configuration, with its namespace
 */
export const isConfigSecret = (key: string): boolean =>
  (pulumi.runtime as unknown as { isConfigSecret(key: string): boolean }).isConfigSecret(key);

/**
 * Returns an object that identifies the run of the program: the connection to the engine. Undefined
 * if there is none.
 *
 * Reason: one process may run several programs, as in tests and in the Automation API.
 *
 * Public way: none.
 */
export const currentRun = (): object | undefined => pulumi.runtime.getMonitor();

/**
 * Returns the outputs of the resources in the state of the stack itself before this run, by URN.
 *
 * Reason: what is created depends on what exists: servers that never answered are replaced, and
 * immutable values of existing objects are refused instead of replaced.
 *
 * Public way: a `StackReference` to the own stack, which has only the outputs of the program. The
 * engine resolves it by this function's neighbor.
 */
export const readOwnResources = (): Promise<unknown> => {
  const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
  return pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", { stackName });
};
