import assert from "node:assert/strict";
import {
  findPartialCreates,
  findUnfinishedCreates,
} from "../../../../components/lifecycle/unfinished-creates.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

const rule = "openstack:networking/secGroupRule:SecGroupRule";
const server = "openstack:compute/instance:Instance";
const deployment = "kubernetes:apps/v1:Deployment";
const script = "command:remote:Command";
const one = (type: string, initErrors?: string[]) => ({
  urn: urnOf(type, "one"),
  type,
  ...(initErrors && { initErrors }),
});

describe("findPartialCreates", () => {
  it("returns OpenStack resources with init errors, except servers, and no Kubernetes resources", () => {
    const errors = ["Error retrieving it"];
    for (const [resource, found] of [
      [one(rule, errors), [urnOf(rule, "one")]],
      [one(rule, []), []],
      [one(rule), []],
      [one(deployment, errors), []],
      [one(server, errors), []],
    ] as const)
      assert.deepEqual(findPartialCreates([resource]), found);
  });
});

describe("findUnfinishedCreates", () => {
  it("returns pending creates of OpenStack objects, and no other pending operations", () => {
    const pending = [
      { type: "creating", resource: one(server) },
      { type: "updating", resource: one(rule) },
      { type: "deleting", resource: one(rule) },
      { type: "creating", resource: one(script) },
      { type: "creating", resource: one(deployment) },
    ];
    assert.deepEqual(
      findUnfinishedCreates({
        deployment: { resources: [one(rule, ["x"])], pending_operations: pending },
      }),
      { pending: [urnOf(server, "one")], partial: [urnOf(rule, "one")] },
    );
  });

  it("returns nothing for a new stack", () => {
    for (const state of [{}, { deployment: null }, { deployment: { resources: null } }])
      assert.deepEqual(findUnfinishedCreates(state), { pending: [], partial: [] });
  });
});
