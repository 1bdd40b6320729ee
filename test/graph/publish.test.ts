import { strict as assert } from "node:assert";
import { Cluster } from "../../components/cluster.js";
import { clusterRows } from "../support/cluster-rows.js";
import { cloudAnswers } from "../support/cloud-answers.js";
import { graph } from "../support/graph.js";
import { smallest } from "../support/spec.js";
import { value } from "../support/value.js";

const args = smallest;
const instance = "openstack:compute/instance:Instance";

describe("a cluster to build on", () => {
  it("publishes what others need: network, groups, nodes, a provider", async () => {
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
  });

  it("lets a program change each child of a kind, and no other", async () => {
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
});
