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

/** Failures that happened before a stop request, so a stop cannot be their cause. */
const failuresBeforeStop = new WeakSet<Failure>();

/** Makes `convertAbortError` keep this failure, which happened before the stop request. */
export function keepDespiteStop(failure: Failure): Failure {
  failuresBeforeStop.add(failure);
  return failure;
}

const mayBeCausedByStop = (error: unknown): boolean =>
  !(error instanceof Failure) || (brokenOff.has(error.code) && !failuresBeforeStop.has(error));

/** Returns the error, or CANCELLED if a stop caused it. */
export const convertAbortError = (error: unknown, signal?: AbortSignal): unknown =>
  signal?.aborted === true && mayBeCausedByStop(error) ? createStoppedError() : error;

const createStoppedError = (): Failure =>
  new Failure("CANCELLED", "Stopped on request. What was done is kept.");

/**
 * Returns the failure with which aborted work ends. The failure is the signal's reason, for example
 * a lost lock. If the reason is not a Failure, returns CANCELLED.
 *
 * @param hasWorked whether the work may have changed something. Default: false
 */
export function getAbortFailure({ reason }: AbortSignal, hasWorked = false): Failure {
  if (reason instanceof Failure) return reason;
  return hasWorked
    ? createStoppedError()
    : new Failure("CANCELLED", "Stopped on request before anything was changed.");
}
