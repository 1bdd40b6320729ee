import assert from "node:assert/strict";
import { getAbortFailure, convertAbortError } from "../../../../base/failures/cancellation.js";
import { Failure } from "../../../../base/failures/failure.js";
import { failureCodes } from "../../../../base/failures/failure-codes.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("an error of a request", () => {
  const stopped = AbortSignal.abort();

  it("is what it is while nobody asked for a stop", () => {
    const { signal } = new AbortController();
    for (const error of [new Error("x"), new Failure("FAILED", "x"), "just text"])
      for (const given of [signal, undefined]) assert.equal(convertAbortError(error, given), error);
  });

  it("is the stop that broke something off, whatever was thrown", () => {
    for (const error of [stopped.reason, new Failure("CLOUD_UNREACHABLE", "x"), "just text"]) {
      const found = convertAbortError(error, stopped);
      assert.ok(found instanceof Failure);
      assert.equal(found.code, "CANCELLED");
      assert.equal(found.exitCode, 130);
    }
  });

  it("stays what it is when a stop cannot be why", () => {
    const brokenOff = ["FAILED", "CLOUD_UNREACHABLE", "SSH_UNREACHABLE"];
    for (const code of nonEmpty(failureCodes.filter((one) => !brokenOff.includes(one)))) {
      const error = new Failure(code, "x");
      assert.equal(convertAbortError(error, stopped), error);
    }
  });
});

describe("work that is to end", () => {
  it("ends by the stop that was asked for, or by what the signal says itself", () => {
    assert.equal(getAbortFailure(AbortSignal.abort()).code, "CANCELLED");
    const lost = new Failure("STACK_LOCKED", "the lock is lost");
    assert.equal(getAbortFailure(AbortSignal.any([AbortSignal.abort(lost)])), lost);
  });
});
