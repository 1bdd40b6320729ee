import type { Unwrap } from "@pulumi/pulumi";

/** Returns an object, built from plain values, with a type that contains no outputs. */
export const unwrapped = <T>(made: T): Unwrap<T> => made as unknown as Unwrap<T>;
