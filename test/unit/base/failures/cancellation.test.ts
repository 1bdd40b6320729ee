import assert from "node:assert/strict";
import {
  convertAbortError,
  getAbortFailure,
  keepDespiteStop,
} from "../../../../base/failures/cancellation.js";
import { Failure } from "../../../../base/failures/failure.js";
import { failureCodes } from "../../../../base/failures/failure-codes.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("convertAbortError", () => {
  const stopped = AbortSignal.abort();

  it("returns the error unchanged without a cancellation", () => {
    const { signal } = new AbortController();
    for (const error of [new Error("x"), new Failure("FAILED", "x"), "just text"])
      for (const given of [signal, undefined]) assert.equal(convertAbortError(error, given), error);
  });

  it("returns CANCELLED after a cancellation, with any error of the interrupted work", () => {
    for (const error of [stopped.reason, new Failure("CLOUD_UNREACHABLE", "x"), "just text"]) {
      const found = convertAbortError(error, stopped);
      assert.ok(found instanceof Failure);
      assert.equal(found.code, "CANCELLED");
      assert.equal(found.exitCode, 130);
    }
  });

  it("returns a failure unchanged that happened before the cancellation", () => {
    const error = keepDespiteStop(new Failure("FAILED", "x"));
    assert.equal(convertAbortError(error, stopped), error);
  });

  it("returns the error unchanged if a cancellation cannot be its cause", () => {
    const brokenOff = ["FAILED", "CLOUD_UNREACHABLE", "SSH_UNREACHABLE"];
    for (const code of nonEmpty(failureCodes.filter((one) => !brokenOff.includes(one)))) {
      const error = new Failure(code, "x");
      assert.equal(convertAbortError(error, stopped), error);
    }
  });
});

describe("getAbortFailure", () => {
  it("returns CANCELLED, or the failure that is the signal's reason", () => {
    assert.equal(getAbortFailure(AbortSignal.abort()).code, "CANCELLED");
    const lost = new Failure("STACK_LOCKED", "the lock is lost");
    assert.equal(getAbortFailure(AbortSignal.any([AbortSignal.abort(lost)])), lost);
  });
});
