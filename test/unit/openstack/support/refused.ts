import assert from "node:assert/strict";
import { CloudError } from "../../../../openstack/http/cloud-error.js";

/** Requires that the work fails with a CloudError, and returns the error. */
export async function refused(work: Promise<unknown>): Promise<CloudError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof CloudError, String(error));
    return error;
  }
  return assert.fail("was accepted");
}
