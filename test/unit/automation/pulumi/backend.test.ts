import assert from "node:assert/strict";
import { disableStateAttributes } from "../../../../automation/pulumi/backend.js";

const given = (backend: string): string | undefined =>
  disableStateAttributes({ PULUMI_BACKEND_URL: backend })["PULUMI_BACKEND_URL"];

describe("The backend of an engine that changes a state", () => {
  it("has no files of attributes in a directory, whatever else its address asks for", () => {
    assert.equal(given("file:///a/b"), "file:///a/b?metadata=skip");
    assert.equal(given("file://~/b?create_dir=true"), "file://~/b?create_dir=true&metadata=skip");
  });

  it("is as it was where it is no directory, or says itself what becomes of attributes", () => {
    for (const backend of ["s3://b?region=c", "postgres://d@e/f", "file:///a?metadata=", ""])
      assert.equal(given(backend), backend);
    assert.deepEqual(disableStateAttributes({ HOME: "/root" }), { HOME: "/root" });
  });
});
