import { Failure } from "../../base/failure.js";
import type { FailureCode } from "../../base/failures.js";

/** What a stop itself brings about: requests that are broken off, commands that end, what nobody foresaw. */
const brokenOff: ReadonlySet<FailureCode> = new Set([
  "FAILED",
  "CLOUD_UNREACHABLE",
  "SSH_UNREACHABLE",
]);

/** An error as it is, or as the stop that brought it about. */
export const unlessStopped = (error: unknown, signal?: AbortSignal): unknown =>
  signal?.aborted === true && (!(error instanceof Failure) || brokenOff.has(error.code))
    ? new Failure("CANCELLED", "Stopped on request. What was done is kept.")
    : error;

/** Why work ends that is to: the signal's own reason, as of a lock that is lost, else the stop that was asked for. */
export const endBy = ({ reason }: AbortSignal): Failure =>
  reason instanceof Failure
    ? reason
    : new Failure("CANCELLED", "Stopped on request before anything was changed.");
