import assert from "node:assert/strict";
import {
  countDriftedResources,
  mergeRows,
  createPlanRows,
} from "../../../../automation/pulumi/preview-rows.js";

describe("rows of a plan", () => {
  const change = (urn: string, operation: string) => ({
    urn,
    name: "n",
    type: "T",
    phase: undefined,
    operation,
  });
  it("list the changes without providers and unchanged resources", () => {
    assert.deepEqual(
      createPlanRows([
        { type: "started", at: 0, change: change("urn:pulumi:d::p::a:b:T::n", "create") },
        { type: "finished", at: 0, change: change("urn:pulumi:d::p::a:b:T::n", "create"), id: "" },
        { type: "unchanged", at: 0, change: change("urn:pulumi:d::p::a:b:T::m", "same") },
        {
          type: "started",
          at: 0,
          change: change("urn:pulumi:d::p::pulumi:providers:x::default", "create"),
        },
      ]),
      [{ operation: "create", type: "T", name: "n" }],
    );
  });

  it("omit the resources that the caller excludes", () => {
    const of = (urn: string, operation: string) => ({
      type: "started" as const,
      at: 0,
      change: change(urn, operation),
    });
    const events = [of("urn:group", "update"), of("urn:group", "replace"), of("urn:x", "update")];
    const rows = createPlanRows(events, new Set(["urn:group"]));
    assert.deepEqual(rows, [{ operation: "update", type: "T", name: "n" }]);
  });

  it("keep the first changing step of each resource, and omit its repair if another step changes the resource", () => {
    const of = (operation: string, name: string) => ({ operation, type: "T", name });
    const repairs = [of("repair", "half"), of("repair", "other")];
    const balancers = [of("replace", "lb")];
    const engine = [of("create", "half"), of("create-replacement", "vm"), of("replace", "vm")];
    assert.deepEqual(mergeRows([repairs, balancers, [of("update", "lb"), ...engine]]), [
      of("repair", "other"),
      ...balancers,
      ...engine,
    ]);
  });

  it("count a resource once if both a refresh and an earlier step report it", () => {
    const finished = {
      type: "finished",
      at: 0,
      id: "",
      change: change("urn:pulumi:d::p::a:b:T::n", "update"),
    } as const;
    const told = { operation: "replace", type: "T", name: "n" };
    assert.deepEqual(
      [
        countDriftedResources([], []),
        countDriftedResources([finished], []),
        countDriftedResources([finished], [told]),
        countDriftedResources([finished], [told, { ...told, name: "other" }]),
      ],
      [0, 1, 1, 2],
    );
  });
});
