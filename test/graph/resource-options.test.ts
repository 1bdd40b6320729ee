import assert from "node:assert/strict";
import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../components/cluster.js";
import type { ClusterComponentArgs } from "../../components/cluster-arguments.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { smallest } from "../support/config/spec.js";
import { graph, type Row } from "../support/graph/graph.js";
import { nonEmpty } from "../support/non-empty.js";
import { named } from "./addons/addons-example.js";

/** Resource of the user's program. */
class Other extends pulumi.CustomResource {
  constructor() {
    super("test:index:Other", "other", {});
  }
}

/** Returns the resources of a cluster with these options, next to a resource `other`. */
const clusterWith = (
  options: (other: Other) => object,
  args: Partial<ClusterComponentArgs> = {},
): Promise<readonly Row[]> =>
  graph(() => new Cluster("dev", { ...smallest, ...args }, options(new Other())), cloudAnswers);

const other = "urn:pulumi:test::stackadm::pulumi:pulumi:Stack$test:index:Other::other";
const clusterIn = (rows: readonly Row[]): readonly Row[] =>
  rows.filter(
    ({ type, name }) => type !== "pulumi:pulumi:Stack" && !["other", "mine"].includes(name),
  );
const childrenIn = (rows: readonly Row[]): readonly Row[] =>
  clusterIn(rows).filter(({ name }) => name !== "dev");

describe("graph: resource options of Cluster", () => {
  it("parent is the parent of the component", async () => {
    const rows = await clusterWith((parent) => ({ parent }));
    assert.equal(named(rows, "dev").parent, other);
  });

  it("dependsOn is a dependency of the component, which its children follow", async () => {
    const rows = await clusterWith((dependsOn) => ({ dependsOn: [dependsOn] }));
    const { urn, dependencies } = named(rows, "dev");
    assert.deepEqual(dependencies, [other]);
    assert.ok(childrenIn(rows).some(({ parent }) => parent === urn));
  });

  it("protect applies to each resource of the cluster", async () => {
    const rows = await clusterWith(() => ({ protect: true }));
    for (const row of nonEmpty(childrenIn(rows))) assert.ok(row.protect, row.name);
  });

  it("retainOnDelete and deletedWith are sent with the component, for the engine to pass on", async () => {
    const rows = await clusterWith((deletedWith) => ({ deletedWith, retainOnDelete: true }));
    const cluster = named(rows, "dev");
    assert.equal(cluster.retainOnDelete, true);
    assert.equal(cluster.deletedWith, other);
    const network = named(rows, "dev-network-network");
    assert.equal(network.deletedWith, "");
  });

  it("aliases are sent with the component, and the names of its children begin with its name", async () => {
    const rows = await clusterWith(() => ({ aliases: [{ name: "old" }] }));
    assert.match(named(rows, "dev").aliases.join(), /stackadm:index:Cluster::old$/);
    for (const { name } of nonEmpty(childrenIn(rows))) assert.match(name, /^dev-/);
  });

  const unused: Readonly<Record<string, object>> = {
    ignoreChanges: { ignoreChanges: ["tags"] },
    customTimeouts: { customTimeouts: { create: "77m" } },
    deleteBeforeReplace: { deleteBeforeReplace: true },
    additionalSecretOutputs: { additionalSecretOutputs: ["address"] },
    replaceOnChanges: { replaceOnChanges: ["name"] },
  };
  for (const [option, given] of Object.entries(unused))
    it(`${option} has no effect on the resources of the cluster`, async () => {
      assert.deepEqual(
        childrenIn(await clusterWith(() => given)),
        childrenIn(await clusterWith(() => ({}))),
      );
    });

  for (const [option, of] of Object.entries({
    provider: (provider: pulumi.ProviderResource) => ({ provider }),
    "providers, as a list": (provider: pulumi.ProviderResource) => ({ providers: [provider] }),
    "providers, as a map": (openstackOne: pulumi.ProviderResource) => ({
      providers: { openstack: openstackOne },
    }),
  }))
    it(`${option}: all resources in OpenStack use it`, async () => {
      const rows = await clusterWith(() => of(new openstack.Provider("mine")));
      const ofOpenstack = rows.filter(({ type }) => type.startsWith("openstack:"));
      for (const { provider, name } of nonEmpty(ofOpenstack))
        assert.match(provider, /::mine::/, name);
    });

  it("transforms see each resource below the component, also commands", async () => {
    const seen = new Set<string>();
    const transform: pulumi.ResourceTransform = ({ type }) => {
      seen.add(type);
      return undefined;
    };
    const rows = await clusterWith(() => ({ transforms: [transform] }));
    assert.deepEqual(
      [...seen].sort(),
      [...new Set(clusterIn(rows).map(({ type }) => type))].sort(),
    );
  });

  it("hooks of the component do not run for its resources", async () => {
    const hook = (): void => {
      throw new Error("called");
    };
    const rows = await clusterWith(() => ({ hooks: { beforeCreate: [hook] } }));
    for (const row of nonEmpty(childrenIn(rows)))
      assert.ok(!row.hooks.some((name) => name.includes("beforeCreate")), row.name);
  });
});

describe("graph: the argument transforms", () => {
  const tagged = (args: Partial<ClusterComponentArgs>): Promise<readonly Row[]> =>
    clusterWith(() => ({}), args);

  it("replaces what a component cannot pass on: ignored changes and time limits", async () => {
    const rows = await tagged({
      transforms: {
        port: ({ props, opts }) => ({
          props: { ...props },
          opts: { ...opts, ignoreChanges: ["tags"], customTimeouts: { create: "77m" } },
        }),
      },
    });
    const { ignoreChanges, timeouts } = named(rows, "dev-workers-general-0-port");
    assert.deepEqual(ignoreChanges, ["tags"]);
    assert.equal(timeouts.create, "77m");
  });

  it("keeps options and hooks of a resource if it returns only inputs", async () => {
    const plain = await tagged({});
    const rows = await tagged({
      transforms: { server: ({ props }) => ({ props: { ...props, tags: ["mine"] } }) },
    });
    const server = "dev-workers-general-0-server";
    const { inputs, ...others } = named(rows, server);
    const { inputs: before, ...same } = named(plain, server);
    assert.deepEqual(others, same);
    assert.deepEqual(inputs, { ...before, tags: ["mine"] });
  });

  it("keeps hooks and the order of deletion if it returns options", async () => {
    const plain = await tagged({});
    const rows = await tagged({
      transforms: {
        server: ({ props, opts }) => ({ props: { ...props }, opts: { ...opts, protect: true } }),
        daemonSet: ({ props, opts }) => ({ props: { ...props }, opts: { ...opts } }),
      },
    });
    for (const name of ["dev-workers-general-0-server", "dev-addons-storage-node"]) {
      const changed = named(rows, name);
      assert.deepEqual({ ...changed, protect: false }, { ...named(plain, name), protect: false });
    }
  });

  it("receives secrets as outputs, and keeps them secret", async () => {
    const seen: boolean[] = [];
    const rows = await tagged({
      transforms: {
        secret: ({ props }) => {
          seen.push(pulumi.Output.isInstance(props["stringData"]));
          return { props: { ...props } };
        },
      },
    });
    const plain = await tagged({});
    assert.deepEqual(seen, [true]);
    const secret = "dev-addons-cloud-config-secret";
    assert.deepEqual(named(rows, secret).inputs, named(plain, secret).inputs);
  });

  it("may be asynchronous", async () => {
    const rows = await tagged({
      transforms: {
        network: async ({ props }) => Promise.resolve({ props: { ...props, mtu: 1400 } }),
      },
    });
    assert.equal(named(rows, "dev-network-network").inputs["mtu"], 1400);
  });

  it("sees the same resources in a preview as in an update", async () => {
    const names: readonly [string[], string[]] = [[], []];
    for (const [index, seen] of names.entries())
      await graph(
        () =>
          new Cluster("dev", {
            ...smallest,
            transforms: {
              server: ({ name, props }) => {
                seen.push(name);
                return { props: { ...props } };
              },
            },
          }),
        { ...cloudAnswers, preview: index === 1 },
      );
    assert.equal(names[0].length, 3);
    assert.deepEqual(names[0].toSorted(), names[1].toSorted());
  });
});
