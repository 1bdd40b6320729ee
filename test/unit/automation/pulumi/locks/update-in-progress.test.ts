import assert from "node:assert/strict";
import { findUpdateInProgress } from "../../../../../automation/pulumi/locks/update-in-progress.js";

describe("findUpdateInProgress", () => {
  const find = (...stacks: readonly object[]): boolean | undefined =>
    findUpdateInProgress(JSON.stringify(stacks), "dev");

  it("returns whether the stack is being updated", () => {
    assert.equal(find({ name: "dev", updateInProgress: true }), true);
    assert.equal(find({ name: "dev", updateInProgress: false }), false);
    assert.equal(find({ name: "dev" }), false);
    assert.equal(find({ name: "my-dev", updateInProgress: true }), undefined);
    assert.equal(find(), undefined);
  });

  it("ignores a stack of another organization with the same name", () => {
    const other = { name: "acme/dev", updateInProgress: true };
    assert.equal(find(other, { name: "dev", updateInProgress: false }), false);
  });

  it("finds a stack that the backend names with its organization", () => {
    assert.equal(find({ name: "acme/dev", updateInProgress: true }), true);
  });
});
