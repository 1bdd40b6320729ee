import assert from "node:assert/strict";
import { inFormOf } from "../../../../automation/cluster/plugin-forms.js";
import type { StateExport, StateResource } from "../../../../automation/cluster/state.js";
import { serverGroupType } from "../../../../automation/cluster/urn.js";
import { urnOf } from "../../../support/engine.js";

const providerOf = (name: string): string =>
  `urn:pulumi:dev::stackadm::pulumi:providers:openstack::${name}::0123-4567`;

describe("the form in which a version of the OpenStack plugin keeps a server group", () => {
  const group = (policies: unknown, more: Partial<StateResource> = {}): StateResource => ({
    ...{ urn: urnOf(serverGroupType, "group"), type: serverGroupType, custom: true, id: "g" },
    provider: providerOf("default_3_15_2"),
    inputs: { name: "g", policies },
    outputs: { name: "g", policies, members: [] },
    ...more,
  });
  const stateOf = (...resources: StateResource[]): StateExport => ({
    version: 3,
    deployment: { resources },
  });
  const [text, list] = ["soft-anti-affinity", ["soft-anti-affinity"]];

  it("becomes that of the version that is chosen, both ways", () => {
    assert.deepEqual(inFormOf(stateOf(group(list)), "5.5.1"), stateOf(group(text)));
    assert.deepEqual(inFormOf(stateOf(group(text)), "3.15.2"), stateOf(group(list)));
  });

  it("is no longer what the plugin remembers of it", () => {
    const remembered = { __pulumi_raw_state_delta: { obj: {} } };
    const held = group(list, { outputs: { name: "g", policies: list, ...remembered } });
    const { deployment } = inFormOf(stateOf(held), "5.5.1");
    assert.deepEqual(deployment.resources?.[0]?.outputs, { name: "g", policies: text });
  });

  it("is known of default providers of any name", () => {
    for (const name of ["default", "default_5_5_1"])
      assert.notEqual(
        inFormOf(stateOf(group(list, { provider: providerOf(name) })), "5.5.1").deployment
          .resources?.[0]?.inputs?.["policies"],
        list,
      );
  });

  it("is left where it is right, of other types, of the program's own provider, and where something is in the making", () => {
    const making = [{ type: "creating", resource: group(list) }];
    const other = group(list, { type: "openstack:networking/port:Port" });
    for (const state of [
      stateOf(group(text)),
      stateOf(other),
      stateOf(group(list, { provider: providerOf("mine") })),
      stateOf(group(list, { provider: providerOf("default-of-mine") })),
      stateOf(group(["a", "b"])),
      stateOf(group(undefined)),
      {
        version: 3,
        deployment: { ...stateOf(group(list)).deployment, pending_operations: making },
      },
      { version: 3, deployment: {} },
    ])
      assert.equal(inFormOf(state, "5.5.1"), state);
  });
});
