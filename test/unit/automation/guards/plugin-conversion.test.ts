import assert from "node:assert/strict";
import {
  convertRecordedServerGroups,
  findConvertedServerGroups,
} from "../../../../automation/guards/plugin-conversion.js";
import type { StateExport, StateResource } from "../../../../automation/pulumi/stack-state.js";
import { serverGroupType } from "../../../../automation/pulumi/urn.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

const providerOf = (name: string): string =>
  `urn:pulumi:dev::stackadm::pulumi:providers:openstack::${name}::0123-4567`;

describe("convertRecordedServerGroups", () => {
  const group = (policies: unknown, more: Partial<StateResource> = {}): StateResource => ({
    urn: urnOf(serverGroupType, "group"),
    type: serverGroupType,
    custom: true,
    id: "g",
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

  it("converts to the form of the chosen plugin version, in both directions", () => {
    assert.deepEqual(
      convertRecordedServerGroups(stateOf(group(list)), "5.5.1"),
      stateOf(group(text)),
    );
    assert.deepEqual(
      convertRecordedServerGroups(stateOf(group(text)), "3.15.2"),
      stateOf(group(list)),
    );
  });

  it("deletes the raw state delta of a converted server group", () => {
    const record = { __pulumi_raw_state_delta: { obj: {} } };
    const held = group(list, { outputs: { name: "g", policies: list, ...record } });
    const { deployment } = convertRecordedServerGroups(stateOf(held), "5.5.1");
    assert.deepEqual(deployment.resources?.[0]?.outputs, { name: "g", policies: text });
  });

  it("converts groups of default providers with any name", () => {
    for (const name of ["default", "default_5_5_1"])
      assert.notEqual(
        convertRecordedServerGroups(stateOf(group(list, { provider: providerOf(name) })), "5.5.1")
          .deployment.resources?.[0]?.inputs?.["policies"],
        list,
      );
  });

  it("keeps correct groups, other types and providers, the user's own groups, and states with pending operations", () => {
    const making = [{ type: "creating", resource: group(list) }];
    const other = group(list, { type: "openstack:networking/port:Port" });
    const urn = `urn:pulumi:dev::stackadm::${serverGroupType}::mine`;
    for (const state of [
      stateOf(group(text)),
      stateOf(other),
      stateOf(group(list, { urn })),
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
      assert.equal(convertRecordedServerGroups(state, "5.5.1"), state);
  });

  it("reports groups that a refresh with the recorded provider version would misread", () => {
    const held = group(text);
    assert.deepEqual(findConvertedServerGroups(stateOf(held)), [held.urn]);
    for (const one of [
      group(list),
      group(text, { provider: providerOf("default_5_5_1") }),
      group(text, { provider: providerOf("default") }),
      group(text, { provider: providerOf("mine") }),
    ])
      assert.deepEqual(findConvertedServerGroups(stateOf(one)), []);
    assert.deepEqual(findConvertedServerGroups(undefined), []);
  });
});
