import assert from "node:assert/strict";
import { smallCluster } from "../../../../documentation/pictures/picture-clusters.js";
import {
  registerCluster,
  type RegisteredCluster,
} from "../../../../documentation/pictures/registered-cluster.js";
import { groupResources } from "../../../../documentation/pictures/resource-groups.js";
import { drawResourceGraph } from "../../../../documentation/pictures/resource-picture.js";
import { findLayoutProblems, isCurrent, listShown } from "../../../support/picture-checks.js";

describe("the groups of resources", () => {
  let cluster: RegisteredCluster;
  before(async () => {
    cluster = await registerCluster(smallCluster);
  });

  it("contain each resource once, and are all in the current picture, without overlaps", () => {
    const groups = groupResources(cluster.rows);
    const names = cluster.rows.filter(({ custom }) => custom).map(({ name }) => name);
    assert.deepEqual(groups.flatMap(({ shows }) => shows).sort(), names.sort());
    const picture = drawResourceGraph("Resources of a small cluster", groups);
    assert.deepEqual(listShown(picture).toSorted(), names);
    assert.deepEqual(findLayoutProblems(picture), []);
    assert.ok(isCurrent("resources.svg", picture), "run npm run docs");
  });

  it("wait only for the groups on which their resources depend directly", () => {
    const groups = groupResources(cluster.rows);
    const after = (key: string): readonly string[] | undefined =>
      groups.find((group) => group.key === key)?.after.toSorted();
    assert.deepEqual(after("cluster: security"), []);
    assert.deepEqual(after("control-plane: control plane"), ["control-plane: boot"]);
    assert.deepEqual(after("workers-general: workers"), [
      "control-plane: control plane",
      "workers-general: boot",
    ]);
  });

  it("are refused if two of them wait for each other", () => {
    const rows = cluster.rows.filter(({ custom }) => custom);
    const network = rows.find(({ name }) => name === "prod-network-network");
    const server = rows.find(({ name }) => name === "prod-control-plane-0-server");
    assert.ok(network && server);
    const others = cluster.rows.filter((row) => row !== network);
    assert.throws(
      () => groupResources([...others, { ...network, dependencies: [server.urn] }]),
      /the group .* depends on itself/,
    );
  });
});
