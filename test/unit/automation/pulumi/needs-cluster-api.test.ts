import assert from "node:assert/strict";
import fc from "fast-check";
import { createApiDependencyPredicate } from "../../../../automation/pulumi/needs-cluster-api.js";
import { omitResources } from "../../../../automation/pulumi/prune-state.js";
import type { StateResource } from "../../../../automation/pulumi/stack-state.js";

const type = {
  service: "kubernetes:core/v1:Service",
  script: "command:remote:Command",
  server: "openstack:compute/instance:Instance",
  provider: "pulumi:providers:kubernetes",
  samples: "stackadm:addons:Samples",
} as const;

const kinds = {
  "an object": { type: type.service, provider: "urn:ours::1" },
  "an object of another provider": { type: type.service, provider: "urn:theirs::1" },
  "a script": { type: type.script, inputs: { create: "sudo -n bash -s" } },
  "a teardown": { type: type.script, inputs: { delete: "sudo -n bash -s" } },
  "a script of the program's own": { type: type.script, inputs: { delete: "rm -r /srv" } },
  "a server": { type: type.server },
  "a provider": { type: type.provider },
  "a component": { type: type.samples },
} satisfies Record<string, Partial<StateResource>>;
type Kind = keyof typeof kinds;
const gone: readonly Kind[] = ["an object", "a teardown"];

const parents: Partial<Record<Kind, string>> = {
  "a script": "stackadm:kubeadm:ControlPlane$",
  "a teardown": "stackadm:kubeadm:ControlPlane$",
};
const urnAt = (index: number, kind: Kind): string =>
  `urn:pulumi:dev::it::${parents[kind] ?? ""}${kinds[kind].type}::${index} ${kind}`;

const resource = (index: number, kind: Kind, urns: readonly string[] = []) =>
  ({
    urn: urnAt(index, kind),
    custom: true,
    ...kinds[kind],
    ...(urns.length > 0 && {
      parent: urns.at(-1),
      dependencies: [...urns],
      propertyDependencies: { stdin: [...urns] },
      deletedWith: urns[0],
      replaceWith: [...urns],
    }),
  }) satisfies StateResource;

const states = fc
  .array(
    fc.tuple(
      fc.constantFrom(...(Object.keys(kinds) as Kind[])),
      fc.array(fc.nat(20), { maxLength: 4 }),
    ),
    { maxLength: 20 },
  )
  .map((rows) => {
    const urns = rows.map(([kind], index) => urnAt(index, kind));
    return rows.map(([kind, uses], index) =>
      resource(
        index,
        kind,
        urns.filter((_, one) => one < index && uses.includes(one)),
      ),
    );
  });

const ours = createApiDependencyPredicate(new Set(["urn:ours"]));

describe("omitResources for an abandoned cluster", () => {
  it("omits exactly the resources that need the cluster's API, and leaves no dangling reference", () => {
    fc.assert(
      fc.property(states, (resources) => {
        const before = { version: 3, deployment: { resources } };
        const { state, forgotten } = omitResources(before, ours);
        const rest = state.deployment.resources ?? [];
        assert.equal(rest.length + forgotten, resources.length);
        const wanted = resources.filter(
          ({ urn }) => !gone.some((kind) => urn.endsWith(` ${kind}`)),
        );
        assert.deepEqual(
          rest.map(({ urn }) => urn),
          wanted.map(({ urn }) => urn),
        );
        const there = new Set(rest.map(({ urn }) => urn));
        for (const one of rest) {
          const named = [
            ...(one.dependencies ?? []),
            ...(one.replaceWith ?? []),
            ...Object.values(one.propertyDependencies ?? {}).flatMap((urns) => urns ?? []),
            ...(one.deletedWith === undefined ? [] : [one.deletedWith]),
            ...(one.parent === undefined ? [] : [one.parent]),
          ];
          for (const urn of named) assert.ok(there.has(urn), `${one.urn} names ${urn}`);
        }
      }),
    );
  });

  it("moves a child of an omitted parent to the nearest remaining ancestor", () => {
    const all = ["a server", "an object", "a teardown", "a server"] as const;
    const resources = all.map((kind, index) => ({
      ...resource(index, kind),
      ...(index > 0 && { parent: urnAt(index - 1, all[index - 1] ?? "a server") }),
    }));
    const { state } = omitResources({ version: 3, deployment: { resources } }, ours);
    assert.deepEqual(
      state.deployment.resources?.map(({ parent }) => parent),
      [undefined, urnAt(0, "a server")],
    );
  });

  it("drops pending operations in the cluster and keeps all others", () => {
    const kept: readonly Kind[] = ["an object of another provider", "a server"];
    const pending = (["an object", ...kept] as const).map((kind, index) => ({
      resource: resource(index, kind),
      type: "creating",
    }));
    const { state } = omitResources(
      { version: 3, deployment: { resources: [], pending_operations: pending } },
      ours,
    );
    assert.deepEqual(
      state.deployment.pending_operations?.map((one) => one.resource.urn),
      kept.map((kind, index) => urnAt(index + 1, kind)),
    );
  });
});
