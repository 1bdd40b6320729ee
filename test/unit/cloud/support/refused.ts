import assert from "node:assert/strict";
import { CloudError } from "../../../../cloud/cloud-error.js";

/** The error with which work on a cloud ends. */
export async function refused(work: Promise<unknown>): Promise<CloudError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof CloudError, String(error));
    return error;
  }
  return assert.fail("was accepted");
}
