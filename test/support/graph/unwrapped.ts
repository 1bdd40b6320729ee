import type { Unwrap } from "@pulumi/pulumi";

/**
 * Returns an object that contains only plain values, with a type that contains no Pulumi outputs.
 */
export const unwrapped = <T>(made: T): Unwrap<T> => made as unknown as Unwrap<T>;
