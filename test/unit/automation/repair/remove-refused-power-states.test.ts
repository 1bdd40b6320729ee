import assert from "node:assert/strict";
import { omitRefusedPowerStates } from "../../../../automation/repair/remove-refused-power-states.js";
import type { StateExport } from "../../../../automation/pulumi/stack-state.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

describe("omitRefusedPowerStates", () => {
  const of = (type: string, powerState?: string) => ({
    urn: urnOf(type, "one"),
    type,
    custom: true,
    inputs: { name: "one", ...(powerState !== undefined && { powerState }) },
    outputs: { powerState },
  });
  const server = "openstack:compute/instance:Instance";
  const stateOf = (...resources: ReturnType<typeof of>[]): StateExport => ({
    version: 3,
    deployment: { resources },
  });

  it("removes a refused power state from a server's inputs and keeps the outputs", () => {
    const { deployment } = omitRefusedPowerStates(
      stateOf(of(server, "active"), of(server, "error")),
    );
    const [running, failed] = deployment.resources ?? [];
    assert.deepEqual(running, of(server, "active"));
    assert.deepEqual(failed, { ...of(server, "error"), inputs: { name: "one" } });
  });

  it("keeps other types and states with pending operations", () => {
    const operation = { resource: of(server), type: "creating" };
    const { deployment } = stateOf(of(server, "error"));
    for (const state of [
      stateOf(of(server, "shutoff"), of(server), of("other:index:Thing", "error")),
      { version: 3, deployment: { ...deployment, pending_operations: [operation] } },
      { version: 3, deployment: {} },
    ])
      assert.equal(omitRefusedPowerStates(state), state);
  });
});
