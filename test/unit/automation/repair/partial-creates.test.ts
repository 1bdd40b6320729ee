import assert from "node:assert/strict";
import { findPartialCreates } from "../../../../automation/repair/partial-creates.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

describe("findPartialCreates", () => {
  const one = (type: string, initErrors?: string[]) => ({
    urn: urnOf(type, "one"),
    type,
    custom: true,
    ...(initErrors && { initErrors }),
  });
  const rule = "openstack:networking/secGroupRule:SecGroupRule";
  const deployment = "kubernetes:apps/v1:Deployment";

  const server = "openstack:compute/instance:Instance";

  it("returns OpenStack resources with init errors, except servers, and no Kubernetes resources", () => {
    const errors = ["Error retrieving it"];
    for (const [resource, found] of [
      [one(rule, errors), [urnOf(rule, "one")]],
      [one(rule, []), []],
      [one(rule), []],
      [one(deployment, errors), []],
      [one(server, errors), []],
    ] as const)
      assert.deepEqual(
        findPartialCreates({ version: 3, deployment: { resources: [{ ...resource }] } }),
        found,
      );
    assert.deepEqual(findPartialCreates({ version: 3, deployment: {} }), []);
  });
});
