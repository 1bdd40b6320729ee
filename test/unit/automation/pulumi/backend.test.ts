import assert from "node:assert/strict";
import { disableStateAttributes } from "../../../../automation/pulumi/backend.js";

const given = (backend: string): string | undefined =>
  disableStateAttributes({ PULUMI_BACKEND_URL: backend })["PULUMI_BACKEND_URL"];

describe("disableStateAttributes", () => {
  it("adds `metadata=skip` to a file backend and keeps its other parameters", () => {
    assert.equal(given("file:///a/b"), "file:///a/b?metadata=skip");
    assert.equal(given("file://~/b?create_dir=true"), "file://~/b?create_dir=true&metadata=skip");
  });

  it("keeps other backends, and file backends that set `metadata`", () => {
    for (const backend of ["s3://b?region=c", "postgres://d@e/f", "file:///a?metadata=", ""])
      assert.equal(given(backend), backend);
    assert.deepEqual(disableStateAttributes({ HOME: "/root" }), { HOME: "/root" });
  });
});
