import assert from "node:assert/strict";
import { mayBeCreatedBy, getUndoStep } from "../../../../automation/pulumi/pending-operations.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { creating, resource } from "../../../support/engine/pending-operations.js";

const instance = "openstack:compute/instance:Instance";

describe("getUndoStep", () => {
  const table: [string, string, string][] = [
    ["forgets a script, which runs again", "command:remote:Command", "forget"],
    ["finds and deletes a server", instance, "delete object"],
    ["finds and deletes a network", "openstack:networking/network:Network", "delete object"],
    [
      "detaches a router interface",
      "openstack:networking/routerInterface:RouterInterface",
      "detach router",
    ],
    [
      "finds and deletes a security group rule",
      "openstack:networking/secGroupRule:SecGroupRule",
      "delete rule",
    ],
    [
      "forgets a Kubernetes object, which the next create adopts",
      "kubernetes:core/v1:Service",
      "forget",
    ],
    [
      "finds and deletes a part of a load balancer",
      "openstack:loadbalancer/listener:Listener",
      "delete part",
    ],
    ["leaves unknown types to the engine", "random:index:Pet", "forget"],
  ];
  for (const [what, type, act] of table)
    it(what, () => {
      assert.equal(getUndoStep(creating(type, "x")).act, act);
    });

  it("forgets an operation that is not a create, because the state has the resource", () => {
    for (const type of ["updating", "deleting", "reading", "importing"])
      assert.equal(getUndoStep({ type, resource: resource(instance, "x") }).act, "forget");
  });

  it("matches an object by its exact name, and a floating IP by its description", () => {
    const server = resource(instance, "r", { name: "dev-0" });
    assert.equal(mayBeCreatedBy(object({ name: "dev-0" }), server), true);
    assert.equal(mayBeCreatedBy(object({ name: "dev-01" }), server), false);
    const address = resource("openstack:networking/floatingIp:FloatingIp", "r", {
      description: "API of dev",
    });
    assert.equal(
      mayBeCreatedBy(object({ kind: "floating IP", description: "API of dev" }), address),
      true,
    );
    const silent = resource("openstack:networking/floatingIp:FloatingIp", "r");
    assert.equal(mayBeCreatedBy(object({ kind: "floating IP" }), silent), false);
    assert.equal(mayBeCreatedBy(object({ name: "" }), resource(instance, "r")), false);
  });
});
