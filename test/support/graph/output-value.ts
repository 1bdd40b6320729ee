import * as pulumi from "@pulumi/pulumi";

/** Returns the value of a Pulumi output, so that a test can check it outside of `apply`. */
export function value<T>(output: pulumi.Output<T>): Promise<T> {
  return (output as unknown as { promise(): Promise<T> }).promise();
}

export const secret = (output: pulumi.Output<unknown>): Promise<boolean> => pulumi.isSecret(output);
