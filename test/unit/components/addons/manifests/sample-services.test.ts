import assert from "node:assert/strict";
import { webService } from "../../../../../components/addons/manifests/samples.js";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { annotations } from "../../../../../components/config/load-balancing/sample-services.js";
import { smallest } from "../../../../support/config/spec.js";
import { unwrapped } from "../../../../support/graph/unwrapped.js";

/** Returns the annotations, without those for Pulumi's provider. */
const annotationsOf = (...settings: Parameters<typeof webService>): object =>
  Object.fromEntries(
    Object.entries(unwrapped(webService(...settings)).metadata.annotations ?? {}).filter(
      ([name]) => !name.startsWith("pulumi.com/"),
    ),
  );
const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };

describe("the sample services", () => {
  it("have no annotations but the one that makes one internal, unless they are told some", () => {
    assert.deepEqual(annotationsOf("external"), {});
    assert.deepEqual(annotationsOf("internal"), internal);
  });

  it("tell the cloud controller what was written, as text under its own names", () => {
    const settings = {
      annotations: {
        timeoutClientData: 60_000,
        keepFloatingip: true,
        proxyProtocol: "v2" as const,
      },
    };
    const told = {
      "loadbalancer.openstack.org/timeout-client-data": "60000",
      "loadbalancer.openstack.org/keep-floatingip": "true",
      "loadbalancer.openstack.org/proxy-protocol": "v2",
    };
    assert.deepEqual(annotationsOf("external", settings), told);
    assert.deepEqual(annotationsOf("internal", settings), { ...internal, ...told });
  });

  it("are ready with any address, unless something is said of them by which it may change", () => {
    const waits = (settings: Parameters<typeof webService>[1]): boolean =>
      "pulumi.com/waitFor" in
      (unwrapped(webService("external", settings)).metadata.annotations ?? {});
    assert.equal(waits({}), true);
    assert.equal(waits({ annotations: {}, clients: ["10.0.0.0/8"] }), true);
    assert.equal(waits({ address: "203.0.113.9" }), false);
    assert.equal(waits({ annotations: { hostname: "web.example.org" } }), false);
  });

  it("take a floating IP that is given, outside only", () => {
    const settings = { address: "203.0.113.9" };
    const addressOf = (reach: "external" | "internal") =>
      unwrapped(webService(reach, settings)).spec?.loadBalancerIP;
    assert.equal(addressOf("external"), "203.0.113.9");
    assert.equal(addressOf("internal"), undefined);
  });

  it("know each annotation that a person writes, and refuse others", () => {
    assert.equal(Object.keys(annotations).length, 28);
    const problemsOf = (written: object) => {
      const sampleServices = { annotations: written };
      const result = parseClusterSpec({ ...smallest, sampleServices });
      return "problems" in result ? result.problems.map(({ message }) => message) : [];
    };
    assert.match(problemsOf({ loadBalancerAddress: "x" }).join(), /does not know/);
    assert.match(
      problemsOf({ memberSubnetId: "x" }).join(),
      /^memberSubnetId is the machines' own/,
    );
    assert.match(problemsOf({ connectionLimit: "many" }).join(), /is not a number of connections/);
  });
});
