import type { Unwrap } from "@pulumi/pulumi";

/** What a builder made of plain values: plain too, whatever outputs its type has room for. */
export const unwrapped = <T>(made: T): Unwrap<T> => made as unknown as Unwrap<T>;
