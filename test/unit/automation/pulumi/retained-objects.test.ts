import assert from "node:assert/strict";
import { findStackOwnership, type StateExport } from "../../../../automation/pulumi/stack-state.js";
import { addRetainedIds, findRetainedIds } from "../../../../automation/pulumi/retained-objects.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

const local = "command:local:Command";
const credentialType =
  "stackadm:identity:ApplicationCredential$openstack:identity/applicationCredential:ApplicationCredential";
const identity = (name = "dev", stdout = "0123456789ab") => ({
  urn: urnOf(local, `${name}-identity`),
  type: local,
  custom: true,
  id: `of ${name}`,
  outputs: { stdout, stderr: "" },
});
const kept = (id: string, type = networkType, more = {}) => ({
  urn: urnOf(type, id),
  type,
  custom: true,
  id,
  retainOnDelete: true,
  ...more,
});
const stateOf = (...resources: (ReturnType<typeof kept> | ReturnType<typeof identity>)[]) =>
  ({ version: 3, deployment: { resources } }) satisfies StateExport;
/** Returns the state without these resources, as if the engine had removed them. */
const without = ({ version, deployment }: StateExport, ...ids: string[]): StateExport => ({
  version,
  deployment: {
    resources: (deployment.resources ?? []).filter(({ id = "" }) => !ids.includes(id)),
  },
});

describe("retained objects", () => {
  it("stay recorded after the state has dropped their resources", () => {
    const first = without(addRetainedIds(stateOf(identity(), kept("a"), kept("b"))), "a");
    assert.deepEqual(findRetainedIds(first), new Set(["a", "b"]));
    const { owned, retained } = findStackOwnership(without(addRetainedIds(first), "b"));
    assert.deepEqual([owned, retained], [new Set(["of dev"]), new Set(["a", "b"])]);
  });

  it("follow the state of existing resources, because the program may stop retaining them", () => {
    const before = addRetainedIds(stateOf(identity(), kept("a")));
    const resources = before.deployment.resources?.map((one) => ({
      ...one,
      retainOnDelete: false,
    }));
    assert.deepEqual(findRetainedIds({ ...before, deployment: { resources } }), new Set());
  });

  it("are recorded in every identity, because a stack may drop one of its clusters", () => {
    const state = addRetainedIds(stateOf(identity(), identity("b", "ba9876543210"), kept("a")));
    assert.deepEqual(findRetainedIds(without(state, "a", "of dev")), new Set(["a"]));
  });

  it("are recorded once, and not without an identity or without retained objects", () => {
    const state = addRetainedIds(stateOf(identity(), kept("a")));
    assert.equal(addRetainedIds(state), state);
    const forgotten = without(state, "a");
    assert.equal(addRetainedIds(forgotten), forgotten);
    for (const one of [stateOf(identity()), stateOf(kept("a")), stateOf(identity("dev", ""))])
      assert.equal(addRetainedIds(one), one);
  });

  it("exclude existing floating IPs, resources that are only read, and clusters' credentials", () => {
    const association = "openstack:networking/floatingIpAssociate:FloatingIpAssociate";
    const state = stateOf(
      identity(),
      kept("given", association),
      kept("read", networkType, { external: true }),
      kept("credential", credentialType),
    );
    assert.deepEqual(findRetainedIds(state), new Set());
    assert.equal(addRetainedIds(state), state);
    assert.deepEqual(findRetainedIds(undefined), new Set());
  });

  it("are not parsed from shell warnings in the identity's stderr", () => {
    const one = identity();
    const said = { ...one, outputs: { ...one.outputs, stderr: "sh: warning: stays: nothing" } };
    assert.deepEqual(findRetainedIds(stateOf(said)), new Set());
    const state = without(addRetainedIds(stateOf(said, kept("a"))), "a");
    assert.deepEqual(findRetainedIds(state), new Set(["a"]));
  });
});
