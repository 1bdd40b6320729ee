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
  EndpointFixture,
} from "../../support/graph/endpoint-graph.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";
import { value } from "../../support/graph/output-value.js";
import { reaches, roundsOf } from "../addons/addons-example.js";
import { nonEmpty } from "../../support/non-empty.js";

describe("an endpoint of kind load-balancer", () => {
  it("creates its parts one after the other, the members last", async () => {
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

  it("forwards TCP to the control planes whose API is ready", async () => {
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

  it("uses only options that OVN supports, and the provider's port", async () => {
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
    assert.deepEqual(await value(endpoint.getInternalAddresses(addresses)), ["10.0.0.200"]);
  });

  it("takes certificate names from its own port before the load balancer exists", async () => {
    const { rows, endpoint } = await build(amphora);
    assert.equal(named(rows, "load-balancer").inputs["vipPortId"], "dev-endpoint-port-id");
    assert.deepEqual(after(rows, "floating-ip"), ["port"]);
    assert.deepEqual(await value(endpoint.certificateNames), ["10.0.0.100", "203.0.113.7"]);
    assert.deepEqual(await value(endpoint.getInternalAddresses(addresses)), ["10.0.0.100"]);
  });

  it("publishes its address after the first member, without waiting for others", async () => {
    const rows = await graph(() => {
      const { endpoint } = new EndpointFixture(amphora, 2);
      new openstack.networking.Network("reader", { description: endpoint.externalHost });
    }, answers);
    const reader = rows.find(({ name }) => name === "reader");
    const waits = reader?.propertyDependencies["description"]?.map(short) ?? [];
    assert.ok(waits.includes("dev-endpoint-member-0"));
    assert.ok(!waits.includes("dev-endpoint-member-1"));
    assert.equal(reader?.inputs["description"], "203.0.113.7");
  });

  it("publishes its internal address without public access", async () => {
    const { endpoint } = await build({ ...amphora, public: false });
    assert.equal(await value(endpoint.externalHost), "10.0.0.100");
    assert.deepEqual(await value(endpoint.certificateNames), ["10.0.0.100"]);
  });

  it("passes flavor and availability zone to the load balancer", async () => {
    const { rows } = await build({ ...amphora, flavorId: "f", zone: "az1" });
    const { flavorId, availabilityZone } = named(rows, "load-balancer").inputs;
    assert.deepEqual([flavorId, availabilityZone], ["f", "az1"]);
    const usual = named((await build(amphora)).rows, "load-balancer").inputs;
    assert.ok(!("flavorId" in usual || "availabilityZone" in usual));
  });

  it("deletes the load balancer before its replacement, and a failed one by a hook", async () => {
    const row = named((await build(amphora)).rows, "load-balancer");
    assert.ok(row.deleteBeforeReplace);
    assert.deepEqual(row.hooks, ["clear-dev-api"]);
    assert.equal(row.inputs["name"], "dev-api");
  });

  it("does not change existing members when a control plane is added", async () => {
    const [three, one] = [await build(amphora), await build(amphora, 1)];
    for (const role of nonEmpty(roles(one.rows))) {
      assert.deepEqual(named(three.rows, role).inputs, named(one.rows, role).inputs, role);
      assert.deepEqual(after(three.rows, role), after(one.rows, role), role);
    }
  });

  describe("in a cluster with three control planes", () => {
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

    it("deletes a member before the control plane leaves and its server is deleted", () => {
      for (const position of [1, 2].map(String)) {
        const machine = `control-plane-${position}`;
        assert.ok(waits(`endpoint-member-${position}`, `${machine}-leave`), position);
        assert.ok(waits(`${machine}-leave`, `${machine}-server`), position);
      }
    });

    it("creates the first member without waiting for the first control plane", () => {
      for (const part of ["leave", "init", "server"])
        assert.ok(!waits("endpoint-member-0", `control-plane-0-${part}`), part);
    });

    it("does not delay the init and join scripts", () => {
      for (const step of ["0-init", "1-join", "2-join"])
        assert.ok(!waits(`control-plane-${step}`, "endpoint-load-balancer"), step);
    });

    it("adds no deletion round for its members", () => {
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
