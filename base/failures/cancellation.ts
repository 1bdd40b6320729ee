import { Failure } from "./failure.js";
import type { FailureCode } from "./failure-codes.js";

/** Codes of errors that a stop can cause: aborted requests, ended commands, unexpected errors. */
const brokenOff: ReadonlySet<FailureCode> = new Set([
  "FAILED",
  "CLOUD_UNREACHABLE",
  "SSH_UNREACHABLE",
]);

/** Returns the error, or CANCELLED if a stop caused it. */
export const convertAbortError = (error: unknown, signal?: AbortSignal): unknown =>
  signal?.aborted === true && (!(error instanceof Failure) || brokenOff.has(error.code))
    ? new Failure("CANCELLED", "Stopped on request. What was done is kept.")
    : error;

/**
 * Returns the reason why work has to end: the signal's own reason, such as a lost lock, or else the
 * requested stop.
 */
export const getAbortFailure = ({ reason }: AbortSignal): Failure =>
  reason instanceof Failure
    ? reason
    : new Failure("CANCELLED", "Stopped on request before anything was changed.");
