import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../components/cluster.js";
import type { ClusterArgs } from "../../components/config/cluster-spec.js";
import {
  transformableTypes,
  type ChildKind,
  type Transform,
} from "../../components/pulumi/transforms.js";
import { clusterRows } from "../support/graph/cluster-rows.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { exampleArgs, exampleNames, programNames } from "../support/config/examples.js";
import { graph, type Fields, type Row } from "../support/graph/graph.js";
import { programGraph } from "../support/graph/program-graph.js";
import { replace } from "../support/replace-property.js";
import { smallest } from "../support/config/spec.js";
import { value } from "../support/graph/output-value.js";

const args = smallest;
const instance = "openstack:compute/instance:Instance";

describe("the Cluster component in a program", () => {
  it("reports the lowest version that its nodes reached, not the configured one", async () => {
    const command = "command:remote:Command";
    const reached = async (version: string): Promise<unknown> => {
      const reports = (name: string): object =>
        name.endsWith("-0-join") ? { kubernetes: version } : { kubernetes: "1.36.3" };
      const stdoutOf = (inputs: Fields, name: string): Fields => {
        const { stdout } = cloudAnswers.outputs?.[command]?.(inputs, name) ?? {};
        const result = { ...(JSON.parse(String(stdout)) as object), ...reports(name) };
        return { stdout: JSON.stringify(result) };
      };
      let outputs: pulumi.Inputs = {};
      // The SDK registers again, without outputs.
      const register = (registered?: pulumi.Inputs): void => {
        outputs = registered ?? outputs;
      };
      const restore = replace(Cluster.prototype, "registerOutputs" as never, register);
      await graph(() => new Cluster("dev", args), {
        ...cloudAnswers,
        outputs: { ...cloudAnswers.outputs, [command]: stdoutOf },
      }).finally(restore);
      assert.match(
        String(await value(pulumi.output(outputs["containerdChecksum"]))),
        /^[0-9a-f]{64}$/,
      );
      return value(pulumi.output(outputs["kubernetesVersion"]));
    };
    assert.equal(await reached("1.35.4"), "1.35.4");
  });

  it("publishes its network, security groups, nodes, endpoint and provider", async () => {
    let cluster: Cluster | undefined;
    await graph(() => {
      cluster = new Cluster("dev", args);
    }, cloudAnswers);
    assert.ok(cluster);
    assert.equal(await value(cluster.networkId), "dev-network-network-id");
    assert.equal(await value(cluster.subnetId), "dev-network-subnet-id");
    assert.equal(await value(cluster.routerId), "dev-network-router-id");
    assert.deepEqual(Object.keys(cluster.securityGroupIds), ["node", "control-plane", "worker"]);
    assert.equal(await value(cluster.provider.id), "dev-addons-provider-id");
    assert.equal(await value(cluster.apiEndpoint), "https://203.0.113.7:6443");
    const nodes = await value(cluster.nodes);
    assert.deepEqual(
      nodes.map(({ name, role, serverId }) => [name, role, serverId]),
      [
        ["dev-control-plane-0", "control-plane", "dev-control-plane-0-server-id"],
        ["dev-general-0", "worker", "dev-workers-general-0-server-id"],
        ["dev-general-1", "worker", "dev-workers-general-1-server-id"],
      ],
    );
    assert.equal(new Set(nodes.map(({ address }) => address)).size, 3);
  });

  it("applies a transform to each child of the kind and to no other child", async () => {
    const changed = await clusterRows({
      ...args,
      transforms: {
        server: ({ props }) => ({ props: { ...props, tags: ["mine"] } }),
        network: ({ props, opts }) => ({ props, opts: { ...opts, protect: true } }),
      },
    });
    for (const { inputs } of changed.filter(({ type }) => type === instance))
      assert.deepEqual(inputs["tags"], ["mine"]);
    assert.deepEqual(
      changed.filter((row) => row.protect).map((row) => row.name),
      ["dev-network-network"],
    );
    const plain = await clusterRows(args);
    assert.equal(changed.length, plain.length);
  });

  describe("transforms", () => {
    /** The definition of the kinds states why these types are not in it. */
    const notTransformed = [
      "command:local:Command",
      "command:remote:Command",
      "command:remote:CopyToRemote",
      "pulumi:providers:kubernetes",
    ];
    /** Arguments with resources that no example has. */
    const more: ClusterArgs = {
      ...args,
      metricsServer: true,
      blockStorage: { snapshots: true },
      endpoint: { kind: "floating-ip", floatingIp: "203.0.113.9" },
    };
    const childKinds = Object.keys(transformableTypes) as ChildKind[];
    const typesOf = (rows: readonly Row[]): string[] =>
      rows.filter(({ custom }) => custom).map(({ type }) => type);

    it("cover every resource type of the examples except commands and the provider", async () => {
      const types = new Set(typesOf(await clusterRows(more)));
      for (const name of exampleNames())
        for (const type of typesOf(await clusterRows(exampleArgs(name)))) types.add(type);
      for (const name of programNames())
        for (const type of typesOf((await programGraph(name)).rows)) types.add(type);
      assert.deepEqual(
        [...types].sort(),
        [...Object.values(transformableTypes), ...notTransformed].sort(),
      );
    });

    it("cover all kinds of children together", async () => {
      const protectedOne: Transform = ({ props, opts }) => ({
        props: { ...props },
        opts: { ...opts, protect: true },
      });
      const transforms = Object.fromEntries(childKinds.map((kind) => [kind, protectedOne]));
      const rows = await clusterRows({ ...more, transforms });
      const types = new Set(typesOf(rows.filter((row) => !row.protect)));
      assert.deepEqual([...types].sort(), notTransformed);
    });
  });
});
