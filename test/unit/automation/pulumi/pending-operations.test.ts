import assert from "node:assert/strict";
import { mayBeCreatedBy, getUndoStep } from "../../../../automation/pulumi/pending-operations.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { creating, resource } from "../../../support/engine/pending-operations.js";

const instance = "openstack:compute/instance:Instance";

describe("getUndoStep", () => {
  const table: [string, string, string][] = [
    ["a script is simply run again", "command:remote:Command", "forget"],
    ["a server is looked up and deleted", instance, "delete object"],
    ["a network is looked up and deleted", "openstack:networking/network:Network", "delete object"],
    [
      "an interface is detached",
      "openstack:networking/routerInterface:RouterInterface",
      "detach router",
    ],
    [
      "a rule is looked up and deleted",
      "openstack:networking/secGroupRule:SecGroupRule",
      "delete rule",
    ],
    ["an object of the cluster is taken over", "kubernetes:core/v1:Service", "forget"],
    [
      "a part of a load balancer is looked up and deleted",
      "openstack:loadbalancer/listener:Listener",
      "delete part",
    ],
    ["what is unknown is left to the engine", "random:index:Pet", "forget"],
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
