import * as pulumi from "@pulumi/pulumi";

/*
 * This file contains everything in the program that depends on private parts of Pulumi's Node SDK
 * or engine. The comment of each function states why the function is needed, and which public
 * function cannot be used. automation/pulumi/pulumi-internals.ts is another file, because the
 * program also runs without `automation/`: by `pulumi up` and in the user's own programs. Tests of
 * the same name in test/graph and test/engine check that Pulumi still works this way. `npm run
 * test:newest` runs these tests with the newest SDK and engine. See
 * docs/decisions/0038-pulumi-internals.md.
 */

/**
 * Returns the value of an output, or undefined if it is unknown. Resources that the caller then
 * creates do not depend on the output's resource. Rejects if that resource fails.
 *
 * Reason: in a rollout, one machine waits for another, but their resources must not depend on each
 * other. The wait must also end if the other machine fails.
 *
 * Public way: `output.apply`. If the value is unknown or the resource failed, `apply` does not call
 * its function, so the caller would wait forever.
 */
export async function awaitSettledOutput<T extends string | number>(
  output: pulumi.Output<T>,
): Promise<T | undefined> {
  const { value } = (await pulumi.runtime.serializeProperties("value", { value: output })) as {
    readonly value: T;
  };
  return value === pulumi.runtime.unknownValue ? undefined : value;
}

/**
 * Returns the value of an output. Rejects if the value is unknown or if the output's resource fails.
 *
 * Reason: an error hook reads values that the engine already knows. If the engine did not know one,
 * the hook would never return, and the engine would wait for the hook forever.
 *
 * Public way: `output.apply`. If the value is unknown or the resource failed, `apply` does not call
 * its function. `awaitSettledOutput` has no secret values and no objects.
 */
export async function awaitKnownOutput<T>(output: pulumi.Output<T>): Promise<pulumi.Unwrap<T>> {
  const whole = pulumi.output(output) as unknown as {
    promise(): Promise<pulumi.Unwrap<T>>;
    readonly isKnown: Promise<boolean>;
  };
  const value = await whole.promise();
  if (!(await whole.isKnown)) throw new TypeError("a value is not known after its resource failed");
  return value;
}

/**
 * Returns whether a value of the stack's configuration, or a part of the value, is encrypted.
 *
 * Reason: the program refuses passwords in plain text, but the SDK returns encrypted values as
 * plain text.
 *
 * Public way: none. `pulumi.Config` does not say whether a value is encrypted, and the program does
 * not know which file contains the configuration. The SDK's types do not declare this function.
 *
 * @param key key of the configuration, with its namespace
 */
export const isConfigSecret = (key: string): boolean =>
  (pulumi.runtime as unknown as { isConfigSecret(key: string): boolean }).isConfigSecret(key);

/**
 * Returns an object that identifies the run of the program: the connection to the engine. Returns
 * undefined without a connection.
 *
 * Reason: one process may run several programs, as tests and the Automation API do.
 *
 * Public way: none.
 */
export const getCurrentRunKey = (): object | undefined => pulumi.runtime.getMonitor();

/**
 * Returns the outputs of all resources in the stack's own state before this run, by URN.
 *
 * Reason: the program needs to know which objects exist. It replaces servers that never answered,
 * and refuses a change of an immutable value that would replace existing objects.
 *
 * Public way: a `StackReference` to the own stack. A `StackReference` has only the outputs of the
 * program, not the outputs of the program's resources.
 */
export async function readOwnResources(): Promise<unknown> {
  // `getOrganization` throws in tests whose Pulumi mocks set no organization.
  const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
  return pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", { stackName });
}

/**
 * Returns inputs of a resource in which every secret is an output.
 *
 * Reason: the SDK gives a transform each secret as an object with a mark. A user would take its
 * fields for the value.
 *
 * Public way: none.
 */
export function wrapSecrets(
  props: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { isRpcSecret, unwrapRpcSecret } = pulumi.runtime;
  return Object.fromEntries(
    Object.entries(props).map(([key, value]) => [
      key,
      isRpcSecret(value) ? pulumi.secret(unwrapRpcSecret(value)) : value,
    ]),
  );
}
