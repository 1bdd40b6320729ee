import assert from "node:assert/strict";
import { findCloudProblems } from "../../../../automation/health/cloud-problems.js";
import { object } from "../../../support/cloud/cloud-object.js";

const provider = "urn:pulumi:dev::stackadm::pulumi:providers:openstack::default";
const resource = (type: string, name: string, more: object = {}) => ({
  urn: `urn:pulumi:dev::stackadm::${type}::${name}`,
  type,
  id: `id-of-${name}`,
  provider: `${provider}::p`,
  ...more,
});
const floatingIp = resource("openstack:networking/floatingIp:FloatingIp", "dev-api");
const balancer = resource("openstack:loadbalancer/loadBalancer:LoadBalancer", "dev-endpoint");
const group = resource("openstack:networking/secGroup:SecGroup", "dev-machines");
const stateOf = (...resources: object[]) => ({
  version: 3,
  deployment: {
    resources: [{ urn: provider, type: "pulumi:providers:openstack", id: "p" }, ...resources],
  } as never,
});

const machine = (name: string, role: string) => ({
  name,
  role,
  zone: "a",
  address: "10.0.0.1",
  serverId: `id-of-${name}`,
});
const outputsOf = (...nodes: ReturnType<typeof machine>[]) => ({
  kubeconfig: "",
  clusterName: "dev",
  apiEndpoint: "",
  hostKeys: [],
  nodes,
});
const server = (name: string, status: string) => object({ id: `id-of-${name}`, name, status });

describe("findCloudProblems", () => {
  const pool = outputsOf(machine("dev-general-0", "worker"), machine("dev-general-1", "worker"));
  const none = stateOf();

  it("returns nothing for active servers and existing objects", () => {
    const objects = [
      object({ kind: "floating IP", id: "id-of-dev-api" }),
      object({ kind: "load balancer", id: "id-of-dev-endpoint", status: "ACTIVE" }),
      object({ kind: "security group", id: "id-of-dev-machines" }),
      server("dev-general-0", "ACTIVE"),
      server("dev-general-1", "REBOOT"),
    ];
    assert.deepEqual(findCloudProblems(stateOf(floatingIp, balancer, group), pool, objects), []);
  });

  it("names the command that repairs a missing or stopped server", () => {
    assert.deepEqual(findCloudProblems(none, pool, [server("dev-general-1", "SHUTOFF")]), [
      "the server of dev-general-0 does not exist any more: `stackadm up --refresh` recreates the machine",
      "dev-general-1 does not run, its server is SHUTOFF: `openstack server start dev-general-1` makes it run again",
    ]);
    assert.deepEqual(
      findCloudProblems(none, outputsOf(machine("dev-general-0", "worker")), [
        server("dev-general-0", "ERROR"),
      ]),
      ["the server of dev-general-0 is ERROR: `openstack server show dev-general-0` says why"],
    );
  });

  it("refers to the restore if etcd has no majority without the missing servers", () => {
    const controlPlanes = [0, 1, 2].map((n) => machine(`dev-control-plane-${n}`, "control-plane"));
    const outputs = outputsOf(...controlPlanes);
    const left = [server("dev-control-plane-0", "ACTIVE"), server("dev-control-plane-1", "ACTIVE")];
    assert.deepEqual(findCloudProblems(none, outputs, left), [
      "the server of dev-control-plane-2 does not exist any more: `stackadm up --refresh` recreates the machine",
    ]);
    assert.match(
      findCloudProblems(none, outputs, left.slice(1)).join("\n"),
      /^(the server of dev-control-plane-[02] .*: etcd has no majority without it, see docs\/operate\/restore\.md\n?){2}$/,
    );
  });

  it("names the command that repairs a missing floating IP, load balancer or security group", () => {
    const active = ["dev-general-0", "dev-general-1"].map((name) => server(name, "ACTIVE"));
    assert.deepEqual(findCloudProblems(stateOf(floatingIp, balancer, group), pool, active), [
      "the floating IP dev-api (id-of-dev-api) does not exist any more: `stackadm up --refresh` creates it again",
      "the load balancer dev-endpoint (id-of-dev-endpoint) does not exist any more: `stackadm up` creates it again",
      "the security group dev-machines (id-of-dev-machines) does not exist any more: `stackadm up --refresh` creates it again",
    ]);
    const broken = object({ kind: "load balancer", id: "id-of-dev-endpoint", status: "ERROR" });
    assert.deepEqual(findCloudProblems(stateOf(balancer), pool, [...active, broken]), [
      "the load balancer dev-endpoint (id-of-dev-endpoint) is in ERROR: `stackadm up` deletes it and creates it again",
    ]);
  });

  it("ignores objects that were not listed, read only, or replaced", () => {
    const state = stateOf(
      floatingIp,
      { ...balancer, external: true },
      { ...group, pendingReplacement: true },
    );
    const active = ["dev-general-0", "dev-general-1"].map((name) => server(name, "ACTIVE"));
    assert.deepEqual(findCloudProblems(state, pool, active, ["floating IP"]), []);
  });
});
