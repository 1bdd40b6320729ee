import { Failure } from "./failure.js";
import type { FailureCode } from "./failure-codes.js";

/**
 * Codes of failures that a stop request can cause, because it aborts requests and ends commands.
 */
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
 * Returns the failure with which aborted work ends. The failure is the signal's reason, for example
 * a lost lock. If the reason is not a Failure, returns CANCELLED.
 */
export const getAbortFailure = ({ reason }: AbortSignal): Failure =>
  reason instanceof Failure
    ? reason
    : new Failure("CANCELLED", "Stopped on request before anything was changed.");
