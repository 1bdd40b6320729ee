import assert from "node:assert/strict";
import { planRows } from "../../../../automation/cluster/plan-rows.js";

describe("the rows of a plan", () => {
  const change = (urn: string, operation: string) => ({
    urn,
    name: "n",
    type: "T",
    phase: undefined,
    operation,
  });
  it("are what would happen, without providers and what stays", () => {
    assert.deepEqual(
      planRows([
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
});
