import assert from "node:assert/strict";
import { disableStateAttributes, withBackend } from "../../../../automation/pulumi/backend.js";

describe("withBackend", () => {
  it("adds the backend to the environment", () => {
    const wanted = { HOME: "/root", PULUMI_BACKEND_URL: "s3://b" };
    for (const env of [{ HOME: "/root" }, { HOME: "/root", PULUMI_BACKEND_URL: "" }, wanted])
      assert.deepEqual(withBackend(env, "s3://b"), wanted);
  });

  it("refuses another backend in the environment, without its password", () => {
    assert.throws(
      () => withBackend({ PULUMI_BACKEND_URL: "postgres://a:word@d/s" }, "s3://b"),
      /PULUMI_BACKEND_URL is 'postgres:\/\/a@d\/s', but the backend of the service is 's3:\/\/b'/,
    );
  });
});

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
