import assert from "node:assert/strict";
import { buildWebService } from "../../../../../components/addons/manifests/samples.js";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { smallest } from "../../../../support/config/spec.js";
import { unwrapped } from "../../../../support/graph/unwrapped.js";

/** Returns the annotations, without those for Pulumi's provider. */
const annotationsOf = (...settings: Parameters<typeof buildWebService>): object =>
  Object.fromEntries(
    Object.entries(unwrapped(buildWebService(...settings)).metadata.annotations ?? {}).filter(
      ([name]) => !name.startsWith("pulumi.com/"),
    ),
  );
const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };

describe("sample services", () => {
  it("have no annotations by default, except the one that makes a service internal", () => {
    assert.deepEqual(annotationsOf("external"), {});
    assert.deepEqual(annotationsOf("internal"), internal);
  });

  it("have the user's annotations", () => {
    const annotations = {
      "loadbalancer.openstack.org/timeout-client-data": "60000",
      "example.org/owner": "web",
    };
    assert.deepEqual(annotationsOf("external", { annotations }), annotations);
    assert.deepEqual(annotationsOf("internal", { annotations }), { ...internal, ...annotations });
  });

  it("are ready with any address unless the user's annotations may change the address", () => {
    const waits = (settings: Parameters<typeof buildWebService>[1]): boolean =>
      "pulumi.com/waitFor" in
      (unwrapped(buildWebService("external", settings)).metadata.annotations ?? {});
    assert.equal(waits({}), true);
    assert.equal(waits({ annotations: {}, clients: ["10.0.0.0/8"] }), true);
    assert.equal(waits({ address: "203.0.113.9" }), false);
    const hostname = "loadbalancer.openstack.org/hostname";
    assert.equal(waits({ annotations: { [hostname]: "web.example.org" } }), false);
  });

  it("use the user's floating IP for the external service only", () => {
    const settings = { address: "203.0.113.9" };
    const addressOf = (reach: "external" | "internal") =>
      unwrapped(buildWebService(reach, settings)).spec?.loadBalancerIP;
    assert.equal(addressOf("external"), "203.0.113.9");
    assert.equal(addressOf("internal"), undefined);
  });

  it("refuse annotations that the program or the cloud controller sets, and values that are not strings", () => {
    const problemOf = (key: string, value: unknown) => {
      const sampleServices = { annotations: { [key]: value } };
      const result = parseClusterSpec({ ...smallest, name: "dev", sampleServices });
      return "problems" in result ? result.problems.map(({ message }) => message).join() : "";
    };
    const of = (name: string) => `loadbalancer.openstack.org/${name}`;
    assert.match(problemOf(of("load-balancer-address"), "x"), /^is set by the cloud controller/);
    assert.match(problemOf(of("member-subnet-id"), "x"), /^is the machines' own subnet/);
    assert.match(problemOf(Object.keys(internal).join(), "true"), /^comes from another setting/);
    assert.match(problemOf(of("connection-limit"), 5), /^5 is no text; write it between quotes/);
    assert.equal(problemOf(of("connection-limit"), "5"), "");
  });
});
