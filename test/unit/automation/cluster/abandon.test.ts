import assert from "node:assert/strict";
import fc from "fast-check";
import { needsApi, withoutApiObjects } from "../../../../automation/cluster/abandon.js";
import type { StateResource } from "../../../../automation/cluster/state.js";

const types = [
  "kubernetes:core/v1:Service",
  "kubernetes:apps/v1:DaemonSet",
  "command:remote:Command",
  "command:remote:Command (teardown)",
  "openstack:compute/instance:Instance",
  "pulumi:providers:kubernetes",
  "stackadm:addons:Samples",
] as const;

const resource = (index: number, kind: (typeof types)[number], uses: readonly number[]) => {
  const teardown = kind.endsWith("(teardown)");
  const urns = uses.filter((one) => one < index).map((one) => `urn:${one}`);
  return {
    urn: `urn:${index}`,
    type: kind.split(" ")[0] ?? "",
    custom: true,
    inputs: teardown ? { delete: "sudo -n bash -s" } : { create: "sudo -n bash -s" },
    ...(urns.length > 0 && {
      dependencies: urns,
      propertyDependencies: { stdin: urns },
      deletedWith: urns[0],
      replaceWith: urns,
    }),
  } satisfies StateResource;
};

const states = fc
  .array(fc.tuple(fc.constantFrom(...types), fc.array(fc.nat(20), { maxLength: 4 })), {
    maxLength: 20,
  })
  .map((rows) => rows.map(([kind, uses], index) => resource(index, kind, uses)));

describe("the state of a cluster that is abandoned", () => {
  it("keeps everything but what needs the API, and no reference leads nowhere", () => {
    fc.assert(
      fc.property(states, (resources) => {
        const before = { version: 3, deployment: { resources } };
        const { state, forgotten } = withoutApiObjects(before);
        const rest = state.deployment.resources ?? [];
        assert.equal(rest.length + forgotten, resources.length);
        assert.ok(!rest.some(needsApi));
        const there = new Set(rest.map(({ urn }) => urn));
        for (const one of rest) {
          const named = [
            ...(one.dependencies ?? []),
            ...(one.replaceWith ?? []),
            ...Object.values(one.propertyDependencies ?? {}).flatMap((urns) => urns ?? []),
            ...(one.deletedWith === undefined ? [] : [one.deletedWith]),
          ];
          for (const urn of named) assert.ok(there.has(urn), `${one.urn} names ${urn}`);
        }
      }),
    );
  });

  it("forgets interrupted operations in the cluster, and no other", () => {
    const pending = [
      { resource: resource(0, "kubernetes:core/v1:Service", []), type: "creating" },
      { resource: resource(1, "openstack:compute/instance:Instance", []), type: "creating" },
    ];
    const { state } = withoutApiObjects({
      version: 3,
      deployment: { resources: [], pending_operations: pending },
    });
    assert.deepEqual(
      state.deployment.pending_operations?.map((one) => one.resource.urn),
      ["urn:1"],
    );
  });
});
