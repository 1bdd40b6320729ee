import assert from "node:assert/strict";
import { countDiffering, planRows } from "../../../../automation/cluster/plan-rows.js";

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

  it("leave out a change of a server group, which nobody makes, and no other one", () => {
    const of = (type: string, operation: string) => ({
      ...{ type: "started" as const, at: 0 },
      change: change(`urn:pulumi:d::p::a:b:C$openstack:compute/${type}::n`, operation),
    });
    const rows = planRows([
      of("serverGroup:ServerGroup", "update"),
      of("serverGroup:ServerGroup", "replace"),
      of("instance:Instance", "update"),
    ]);
    assert.deepEqual(
      rows.map(({ operation }) => operation),
      ["replace", "update"],
    );
  });

  it("are counted once where a refresh sees what was told before, too", () => {
    const finished = {
      type: "finished",
      at: 0,
      id: "",
      change: change("urn:pulumi:d::p::a:b:T::n", "update"),
    } as const;
    const told = { operation: "replace", type: "T", name: "n" };
    assert.deepEqual(
      [
        countDiffering([], []),
        countDiffering([finished], []),
        countDiffering([finished], [told]),
        countDiffering([finished], [told, { ...told, name: "other" }]),
      ],
      [0, 1, 1, 2],
    );
  });
});
