import { strict as assert } from "node:assert";
import {
  keepIgnored,
  createTakeOverPatch,
} from "../../../../../stand-ins/kubernetes/operations/field-managers.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

const entry = (
  manager: string,
  operation: string,
  fieldsV1: JsonObject,
  more: JsonObject = {},
): JsonObject => ({
  manager,
  operation,
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1,
  ...more,
});
const live = (...managedFields: JsonObject[]): JsonObject => ({
  metadata: { name: "x", resourceVersion: "7", managedFields },
  data: { a: "live", b: "live" },
});

describe("kubernetes stand-in: field managers", () => {
  it("moves the fields of the create to the resource's own manager", () => {
    const patch = createTakeOverPatch(
      live(
        entry("pulumi-kubernetes", "Update", { "f:data": { "f:a": {} } }),
        entry("own", "Apply", { "f:data": { "f:b": {} } }),
        entry("controller", "Update", { "f:status": {} }, { subresource: "status" }),
      ),
      "own",
    );
    assert.deepEqual(patch, [
      {
        op: "replace",
        path: "/metadata/managedFields",
        value: [
          entry("controller", "Update", { "f:status": {} }, { subresource: "status" }),
          entry("own", "Apply", { "f:data": { "f:a": {}, "f:b": {} } }),
        ],
      },
      { op: "replace", path: "/metadata/resourceVersion", value: "7" },
    ]);
  });

  it("takes fields over from kubectl, but not from other managers", () => {
    const fields = { "f:data": { "f:a": {} } };
    assert.ok(createTakeOverPatch(live(entry("kubectl", "Apply", fields)), "own"));
    assert.ok(createTakeOverPatch(live(entry("before-first-apply", "Update", fields)), "own"));
    assert.equal(
      createTakeOverPatch(live(entry("kubectl-patch", "Update", fields)), "own"),
      undefined,
    );
    const status = entry("pulumi-kubernetes", "Update", fields, { subresource: "status" });
    assert.equal(createTakeOverPatch(live(status), "own"), undefined);
    assert.equal(createTakeOverPatch({ metadata: {} }, "own"), undefined);
  });

  it("leaves an ignored field to its only owner", () => {
    const inputs: JsonObject = { data: { a: "new", b: "new" } };
    const object = live(entry("other", "Update", { "f:data": { "f:a": {} } }));
    keepIgnored(inputs, object, ["data", "a"], "own");
    assert.deepEqual(inputs, { data: { b: "new" } });
  });

  it("sends the live value of an ignored field that is its own, shared or unowned", () => {
    const fields = { "f:data": { "f:a": {} } };
    for (const owners of [
      [],
      [entry("own", "Apply", fields)],
      [entry("own", "Apply", fields), entry("other", "Update", fields)],
    ]) {
      const inputs: JsonObject = { data: { a: "new" } };
      keepIgnored(inputs, live(...owners), ["data", "a"], "own");
      assert.deepEqual(inputs, { data: { a: "live" } });
    }
  });

  it("sends an ignored field that the server lacks", () => {
    const inputs: JsonObject = { data: { c: "new" } };
    keepIgnored(inputs, live(), ["data", "c"], "own");
    assert.deepEqual(inputs, { data: { c: "new" } });
  });
});
