import { strict as assert } from "node:assert";
import * as openstack from "@pulumi/openstack";
import {
  addresses,
  after,
  amphora,
  answers,
  build,
  named,
  nodes,
  ovn,
  roles,
  short,
  EndpointBed,
} from "../../support/graph/endpoint-graph.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";
import { value } from "../../support/graph/output-value.js";
import { reaches, roundsOf } from "../addons/addons-example.js";
import { nonEmpty } from "../../support/non-empty.js";

describe("an endpoint that is a load balancer", () => {
  it("makes one part after the other, the control planes last", async () => {
    const { rows } = await build(amphora);
    assert.deepEqual(roles(rows), [
      ...["floating-ip", "listener", "load-balancer"],
      ...["member-0", "member-1", "member-2", "monitor", "pool", "port"],
    ]);
    const parts = [
      "load-balancer",
      "listener",
      "pool",
      "monitor",
      "member-0",
      "member-1",
      "member-2",
    ];
    for (const [index, part] of parts.entries()) {
      const before = parts[index - 1];
      if (before !== undefined) assert.ok(after(rows, part).includes(before), part);
    }
  });

  it("passes the API on by TCP to those whose API is ready", async () => {
    const { rows } = await build(amphora);
    const { inputs: listener } = named(rows, "listener");
    assert.deepEqual([listener["protocol"], listener["protocolPort"]], ["TCP", 6443]);
    assert.deepEqual(listener["allowedCidrs"], [nodes, "203.0.113.0/24"]);
    assert.deepEqual(
      [listener["timeoutClientData"], listener["timeoutMemberData"]],
      [3_600_000, 3_600_000],
    );
    const { inputs: monitor } = named(rows, "monitor");
    assert.deepEqual(
      [monitor["type"], monitor["urlPath"], monitor["expectedCodes"]],
      ["HTTPS", "/readyz", "200"],
    );
    assert.ok(Number(monitor["timeout"]) < Number(monitor["delay"]), "Octavia refuses the rest");
    const { inputs: member } = named(rows, "member-1");
    assert.deepEqual(member, {
      name: "dev-control-plane-1",
      address: "10.0.0.12",
      poolId: "dev-endpoint-pool-id",
      protocolPort: 6443,
      subnetId: "dev-subnet-id",
    });
  });

  it("asks of OVN only what it knows, and leaves the port to it", async () => {
    const { rows, endpoint } = await build(ovn);
    const { inputs: balancer } = named(rows, "load-balancer");
    assert.deepEqual(
      [balancer["vipSubnetId"], balancer["vipPortId"]],
      ["dev-subnet-id", undefined],
    );
    assert.deepEqual(Object.keys(named(rows, "listener").inputs).sort(), [
      ...["loadbalancerId", "name", "protocol", "protocolPort", "tags"],
    ]);
    assert.equal(named(rows, "pool").inputs["lbMethod"], "SOURCE_IP_PORT");
    assert.equal(named(rows, "monitor").inputs["type"], "TCP");
    assert.equal(named(rows, "monitor").inputs["urlPath"], undefined);
    assert.equal(named(rows, "floating-ip").inputs["portId"], "vip-port-of-the-provider");
    assert.deepEqual(await value(endpoint.inside(addresses)), ["10.0.0.200"]);
  });

  it("keeps the certificate from waiting for it: its addresses are those of a port of the cluster's own", async () => {
    const { rows, endpoint } = await build(amphora);
    assert.equal(named(rows, "load-balancer").inputs["vipPortId"], "dev-endpoint-port-id");
    assert.deepEqual(after(rows, "floating-ip"), ["port"]);
    assert.deepEqual(await value(endpoint.certificateNames), ["10.0.0.100", "203.0.113.7"]);
    assert.deepEqual(await value(endpoint.inside(addresses)), ["10.0.0.100"]);
  });

  it("is no way in before the first control plane is behind it", async () => {
    const rows = await graph(() => {
      const { endpoint } = new EndpointBed(amphora, 2);
      new openstack.networking.Network("reader", { description: endpoint.outside });
    }, answers);
    const reader = rows.find(({ name }) => name === "reader");
    const waits = reader?.propertyDependencies["description"]?.map(short) ?? [];
    assert.ok(waits.includes("dev-endpoint-member-0"));
    assert.ok(!waits.includes("dev-endpoint-member-1"));
    assert.equal(reader?.inputs["description"], "203.0.113.7");
  });

  it("is known by its address in the network where it is not public", async () => {
    const { endpoint } = await build({ ...amphora, public: false });
    assert.equal(await value(endpoint.outside), "10.0.0.100");
    assert.deepEqual(await value(endpoint.certificateNames), ["10.0.0.100"]);
  });

  it("has the size and the place that are chosen", async () => {
    const { rows } = await build({ ...amphora, flavorId: "f", zone: "az1" });
    const { flavorId, availabilityZone } = named(rows, "load-balancer").inputs;
    assert.deepEqual([flavorId, availabilityZone], ["f", "az1"]);
    const usual = named((await build(amphora)).rows, "load-balancer").inputs;
    assert.ok(!("flavorId" in usual || "availabilityZone" in usual));
  });

  it("gives up its address before another one gets it, and clears away what failed", async () => {
    const row = named((await build(amphora)).rows, "load-balancer");
    assert.ok(row.deleteBeforeReplace);
    assert.deepEqual(row.hooks, ["clear-dev-api"]);
    assert.equal(row.inputs["name"], "dev-api");
  });

  it("changes nothing of the members that are there when a control plane is added", async () => {
    const [three, one] = [await build(amphora), await build(amphora, 1)];
    for (const role of nonEmpty(roles(one.rows))) {
      assert.deepEqual(named(three.rows, role).inputs, named(one.rows, role).inputs, role);
      assert.deepEqual(after(three.rows, role), after(one.rows, role), role);
    }
  });

  describe("of a cluster with three control planes", () => {
    let rows: readonly Row[];
    before(async () => {
      const controlPlane = { flavor: "medium", count: 3 };
      rows = await clusterRows({ ...smallest, controlPlane, endpoint: { kind: "load-balancer" } });
    });
    const rowOf = (name: string): Row => {
      const found = rows.find((row) => row.name === `dev-${name}`);
      assert.ok(found, name);
      return found;
    };
    const waits = (one: string, other: string): boolean =>
      reaches(rows, rowOf(one).urn, rowOf(other).urn);

    it("leads nobody to one that leaves: its member is deleted first, then it leaves, then its server goes", () => {
      for (const position of [1, 2].map(String)) {
        const machine = `control-plane-${position}`;
        assert.ok(waits(`endpoint-member-${position}`, `${machine}-leave`), position);
        assert.ok(waits(`${machine}-leave`, `${machine}-server`), position);
      }
    });

    it("has the first one before there is a machine: it stays, and leads to the others", () => {
      for (const part of ["leave", "init", "server"])
        assert.ok(!waits("endpoint-member-0", `control-plane-0-${part}`), part);
    });

    it("is not what a control plane begins or joins by", () => {
      for (const step of ["0-init", "1-join", "2-join"])
        assert.ok(!waits(`control-plane-${step}`, "endpoint-load-balancer"), step);
    });

    it("ends in no more rounds of deletions for it: the engine deletes at once what is equally far from the beginning", () => {
      const last = (some: readonly Row[]): number => Math.max(...roundsOf(some).values());
      const apart = rows.map((row) =>
        row.name.startsWith("dev-endpoint-member-")
          ? { ...row, dependencies: row.dependencies.filter((urn) => !urn.endsWith("-leave")) }
          : row,
      );
      assert.equal(last(rows), last(apart));
    });
  });
});
