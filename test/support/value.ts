import * as pulumi from "@pulumi/pulumi";

/** What an output comes to. Assertions are made on this, never inside the output. */
export function value<T>(output: pulumi.Output<T>): Promise<T> {
  return (output as unknown as { promise(): Promise<T> }).promise();
}

/** Whether an output is secret. */
export const secret = (output: pulumi.Output<unknown>): Promise<boolean> => pulumi.isSecret(output);
