import { strict as assert } from "node:assert";
import type * as pulumi from "@pulumi/pulumi";
import { addresses, build, named, roles, virtualIp } from "../../support/graph/endpoint-graph.js";
import { value } from "../../support/graph/output-value.js";

describe("an endpoint of kind virtual-ip", () => {
  it("reserves an address with an unattached port for all control planes", async () => {
    const { rows, endpoint } = await build(virtualIp);
    assert.deepEqual(roles(rows), ["floating-ip", "port"]);
    const { inputs } = named(rows, "port");
    assert.deepEqual(
      [inputs["name"], inputs["noSecurityGroups"], inputs["deviceId"]],
      ["dev-api", true, undefined],
    );
    assert.deepEqual(inputs["fixedIps"], [{ subnetId: "dev-subnet-id" }]);
    const allowed = await Promise.all(endpoint.allowedAddresses.map((one) => value(one)));
    assert.deepEqual(allowed, ["10.0.0.100"]);
    assert.equal(named(rows, "floating-ip").inputs["portId"], "dev-endpoint-port-id");
  });

  it("reserves the specified address", async () => {
    const { rows } = await build({ ...virtualIp, address: "10.0.0.100" });
    assert.deepEqual(named(rows, "port").inputs["fixedIps"], [
      { subnetId: "dev-subnet-id", ipAddress: "10.0.0.100" },
    ]);
  });

  it("passes a separate keepalived configuration to each control plane", async () => {
    const { endpoint } = await build(virtualIp);
    const told = endpoint.scriptValues(1, addresses);
    assert.equal(await value(told.VIRTUAL_IP as pulumi.Output<string>), "10.0.0.100");
    const ready = await value(told.VIRTUAL_IP_READY as pulumi.Output<string>);
    assert.equal(ready, "https://10.0.0.100:6443/readyz");
    const config = await value(told.VIRTUAL_IP_CONFIG as pulumi.Output<string>);
    assert.match(
      config,
      /unicast_src_ip 10\.0\.0\.12\n {2}unicast_peer \{\n {4}10\.0\.0\.11\n {4}10\.0\.0\.13\n/,
    );
    assert.match(config, /10\.0\.0\.100\/32/);
  });

  it("uses one internal address, and a floating IP only with public access", async () => {
    const { endpoint } = await build(virtualIp);
    assert.deepEqual(await value(endpoint.getInternalAddresses(addresses)), ["10.0.0.100"]);
    assert.equal(await value(endpoint.externalHost), "203.0.113.7");
    assert.deepEqual(await value(endpoint.certificateNames), ["10.0.0.100", "203.0.113.7"]);
    const inner = await build({ ...virtualIp, public: false });
    assert.equal(await value(inner.endpoint.externalHost), "10.0.0.100");
    assert.deepEqual(roles(inner.rows), ["port"]);
  });
});
